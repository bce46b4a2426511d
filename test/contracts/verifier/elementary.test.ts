import { expect } from "chai";
import { bytesToHex, decodeFunctionResult, encodeFunctionData, hexToBytes, type Hex } from "viem";
import { canonicalWord, DType, dtypeName, type DType as DTypeCode, type Word } from "../../../src/numerics/dtype.ts";
import { applyOperation } from "../../../src/program/expression.ts";
import { operationGas } from "../../../src/program/gas.ts";
import { Op } from "../../../src/program/operations.ts";
import { AT_LENGTH, itInTime } from "../../../testkit/atLength.ts";
import {
  hardOperands,
  hardPowPairs,
  relevantOperands,
  UNIVARIATE,
  type OperandPair,
} from "../../../testkit/numerics/elementaryCases.ts";
import {
  hardOperands64,
  hardPowPairs64,
  relevantOperands64,
  word64,
} from "../../../testkit/numerics/elementaryCases64.ts";
import { float32WordPairs } from "../../../testkit/numerics/float32Words.ts";
import { Prng } from "../../../testkit/random/prng.ts";
import { floatPairs } from "../../../testkit/numerics/floatWords.ts";
import { createCallChain } from "../../../testkit/verifier/callChain.ts";

const FUNCTIONS = ["pow", ...UNIVARIATE] as const;
const RANDOM_INPUTS = AT_LENGTH ? 20_000 : 1_000;
const GAS_BOUND = 16_000n;
const GAS_BOUND_64 = 100_000n;
/** The share of the loop over instructions, which the price of an operation has beside its call. */
const LOOP_GAS = 600n;
const INPUTS_64 = AT_LENGTH ? 4_000 : 50;
/** One of so many hard operands of float64: prime to 10, the variants of each. */
const HARD_STRIDE_64 = AT_LENGTH ? 1 : 7;
/** Where series are longest: next to 6 (erf), 2/5 and 1 (arcs), far multiples of pi/2; both powers and roots. */
const SLOW_64 = [5.999999999999999, 0.4, 0.4142135623730951, 0.9999999999999999, 1.4142135623730951, 6, 709, 1e300];
const CALL_GAS = 2n ** 24n;
const BATCH = 100; // small: the simulated chain slows down on large calls

const hex = (value: Word): string => `0x${value.toString(16).padStart(8, "0")}`;
const canonical = (value: Word): Word => canonicalWord(value, DType.float32);

function pack(pairs: readonly OperandPair[]): Hex {
  const bytes = new DataView(new ArrayBuffer(pairs.length * 16));
  pairs.flat().forEach((word, i) => bytes.setBigUint64(i * 8, word));
  return bytesToHex(new Uint8Array(bytes.buffer));
}

function unpack(packed: Hex): Word[] {
  const bytes = hexToBytes(packed);
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  return Array.from({ length: bytes.length / 8 }, (_, i) => view.getBigUint64(i * 8));
}

async function deploy() {
  const { viem } = await createCallChain();
  const elementary = await viem.deployContract("Elementary");
  const harness = await viem.deployContract("ElementaryHarness");
  const client = await viem.getPublicClient();
  const { abi, address } = harness;
  const evaluateMany = async (
    op: number,
    pairs: readonly OperandPair[],
    dtype: DTypeCode = DType.float32,
  ): Promise<readonly [Hex, bigint, bigint]> => {
    const functionName = "evaluateMany";
    const input = encodeFunctionData({
      abi,
      functionName,
      args: [elementary.address, BigInt(op), BigInt(dtype), pack(pairs)],
    });
    const { data } = await client.call({ to: address, data: input, gas: CALL_GAS });
    return decodeFunctionResult({ abi, functionName, data: data! });
  };
  return { viem, elementary, evaluateMany };
}

const FLOAT32 = BigInt(DType.float32);
const HALF_INPUTS = 150;

describe("Elementary", () => {
  let chain: Awaited<ReturnType<typeof deploy>>;
  /** The most gas that a call took, by what the tests below evaluated. */
  const largestGas = new Map<string, bigint>();
  const maxGas64 = new Map<(typeof FUNCTIONS)[number], bigint>();
  before(async () => {
    chain = await deploy();
  });

  for (const name of FUNCTIONS) {
    it(`${name}_randomAndHardInputs_equalTheDefinition`, async () => {
      const op = Op[name];
      const hard: readonly OperandPair[] = op === Op.pow ? hardPowPairs() : hardOperands().map((a) => [a, 0n]);
      const relevant = relevantOperands(name, op, RANDOM_INPUTS / 2);
      // Not canonicalised: -0 and every NaN reach the contract as they are.
      const pairs = [...hard, ...relevant, ...float32WordPairs(op, RANDOM_INPUTS / 2)];
      let maxGas = 0n;
      let totalGas = 0n;
      for (let start = 0; start < pairs.length; start += BATCH) {
        const batch = pairs.slice(start, start + BATCH);
        const [results, batchMax, batchTotal] = await chain.evaluateMany(op, batch);
        unpack(results).forEach((actual, i) => {
          const [a, b] = batch[i]!;
          const expected = applyOperation(op, DType.float32, canonical(a), canonical(b), 0n);
          if (actual !== expected)
            expect.fail(`(${hex(a)}, ${hex(b)}): contract ${hex(actual)}, definition ${hex(expected)}`);
        });
        if (batchMax > maxGas) maxGas = batchMax;
        totalGas += batchTotal;
      }
      console.log(
        `      ${name}: ${pairs.length} inputs, gas of a call at most ${maxGas}, ` +
          `on average ${totalGas / BigInt(pairs.length)}`,
      );
      largestGas.set(name, maxGas);
    });
  }

  for (const dtype of [DType.float16, DType.bfloat16]) {
    it(`${dtypeName(dtype)}_randomInputs_equalTheDefinition`, async () => {
      let largest = 0n;
      for (const name of FUNCTIONS) {
        const pairs = floatPairs(new Prng(Op[name] + dtype), dtype, HALF_INPUTS).slice(-HALF_INPUTS);
        const [results, maxGas] = await chain.evaluateMany(Op[name], pairs, dtype);
        unpack(results).forEach((actual, i) => {
          const [a, b] = pairs[i]!;
          const expected = applyOperation(Op[name], dtype, a, b, 0n);
          if (actual !== expected)
            expect.fail(`${name}(${hex(a)}, ${hex(b)}): contract ${hex(actual)}, definition ${hex(expected)}`);
        });
        if (maxGas > largest) largest = maxGas;
      }
      console.log(`      gas of a call at most ${largest}`);
      largestGas.set(dtypeName(dtype), largest);
    });
  }

  it("float64_randomAndHardInputs_equalTheDefinition", async () => {
    for (const name of FUNCTIONS) {
      const op = Op[name];
      const hard: readonly OperandPair[] = op === Op.pow ? hardPowPairs64() : hardOperands64().map((a) => [a, 0n]);
      const some = hard.filter((_, i) => i % HARD_STRIDE_64 === 0);
      const slow = SLOW_64.map((x): OperandPair => [word64(x), word64(x > 2 ? 1.7 : 700.1)]);
      const pairs = [...some, ...slow, ...relevantOperands64(name, INPUTS_64)];
      let largest = 0n;
      for (let start = 0; start < pairs.length; start += BATCH) {
        const batch = pairs.slice(start, start + BATCH);
        const [results, maxGas] = await chain.evaluateMany(op, batch, DType.float64);
        unpack(results).forEach((actual, i) => {
          const [a, b] = batch[i]!;
          const expected = applyOperation(op, DType.float64, a, b, 0n);
          if (actual !== expected)
            expect.fail(`${name}(${hex(a)}, ${hex(b)}): contract ${hex(actual)}, definition ${hex(expected)}`);
        });
        if (maxGas > largest) largest = maxGas;
      }
      console.log(`      ${name}: ${pairs.length} inputs, gas of a call at most ${largest}`);
      maxGas64.set(name, largest);
    }
  });

  it("everyCallOfTheseTests_isWithinTheGasBound", () => {
    expect(largestGas.size).to.equal(FUNCTIONS.length + 2);
    for (const [name, gas] of largestGas) expect(gas < GAS_BOUND, `${name} took ${gas} gas`).to.equal(true);
    expect(maxGas64.size).to.equal(FUNCTIONS.length);
    for (const [name, gas] of maxGas64) {
      expect(gas < GAS_BOUND_64, `${name} of float64 took ${gas} gas`).to.equal(true);
      const price = BigInt(operationGas({ op: Op[name], dtype: DType.float64, a: 0, b: 0, c: 0 }));
      expect(gas + LOOP_GAS <= price && price <= 4n * gas, `${name}: ${gas}, priced ${price}`).to.equal(true);
    }
  });

  itInTime("unknownOpcode_reverts", async () => {
    const call = chain.elementary.read.evaluate([0x62n, FLOAT32, 0n, 0n]);
    await chain.viem.assertions.revertWithCustomErrorWithArgs(call, chain.elementary, "UnknownFunction", [0x62n]);
  });

  itInTime("upperBits_areIgnored", async () => {
    expect(
      await chain.elementary.read.evaluate([BigInt(Op.exp), FLOAT32, (1n << 255n) | (1n << 32n), 2n ** 256n - 1n]),
    ).to.equal(0x3f800000n);
    expect(
      await chain.elementary.read.evaluate([
        BigInt(Op.pow),
        FLOAT32,
        (7n << 32n) | 0x40000000n,
        (9n << 200n) | 0x40400000n,
      ]),
    ).to.equal(0x41000000n);
  });
});
