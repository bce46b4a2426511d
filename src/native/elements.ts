import { bytesOf, CONSTRUCTORS, readableArray } from "../executor/arrays.ts";
import { canonical } from "./canonical.ts";
import { dtypeBytes, isFloat, isHalf, writeWord, type DType } from "../numerics/dtype.ts";
import { numberWord, wordNumber } from "../numerics/numbers.ts";

/** A tensor's elements as numbers, canonical. 64-bit integers beyond 2^53 are rounded. */
export function numbersOf(bytes: Uint8Array, dtype: DType): Float64Array {
  const array = readableArray(bytes, dtype);
  const numbers = new Float64Array(array.length);
  for (let i = 0; i < numbers.length; i++)
    numbers[i] = isHalf(dtype) ? wordNumber(BigInt(array[i]!), dtype) : Number(array[i]!);
  return numbers;
}

/** Returns a tensor's canonical bytes from numbers, rounded to its type. */
export function bytesOfNumbers(numbers: Float64Array, dtype: DType): Uint8Array {
  if (isHalf(dtype)) {
    const bytes = new Uint8Array(numbers.length * dtypeBytes(dtype));
    numbers.forEach((number, i) => writeWord(bytes, i, dtype, numberWord(number, dtype)));
    return canonical(bytes, dtype);
  }
  const array = new CONSTRUCTORS[dtype](numbers.length);
  for (let i = 0; i < numbers.length; i++) {
    const number = isFloat(dtype) ? numbers[i]! : Math.round(numbers[i]!);
    array[i] = array instanceof BigInt64Array || array instanceof BigUint64Array ? BigInt(number) : number;
  }
  return canonical(bytesOf(array), dtype);
}

/** Returns a type's nearest number to a number. */
export const roundedTo = (number: number, dtype: DType): number =>
  numbersOf(bytesOfNumbers(Float64Array.of(number), dtype), dtype)[0]!;
