import { DType } from "../../src/numerics/dtype.ts";
import { InputFileError } from "../../src/model/onnx/inputs/errors.ts";
import { inputTensor } from "../../src/model/onnx/inputs/readInputFile.ts";
import type { CompiledModel, TensorInfo } from "../../src/program/compiled.ts";
import { pictureTensor, planeOf, type Pixels, type Plane } from "./picture.ts";
import type { InputFile } from "./messages.ts";

/** Reads a picture, drawn at a size. @throws InputFileError if it is none */
export type Decode = (file: InputFile, size: Pick<Plane, "width" | "height">) => Promise<Pixels>;

/** The bytes of inputs that somebody gave, by name. */
export type GivenInputs = ReadonlyMap<string, Uint8Array>;

const PICTURE = /\.(png|jpe?g|webp|gif|avif|bmp)$/i;

/**
 * Reads the files that somebody gives as inputs: .npy, .json and .pb as the command line does, and pictures.
 * @throws InputFileError that names the file, what is wrong and what would fit
 */
export async function givenInputs(
  { inputs }: Pick<CompiledModel, "inputs">,
  files: Readonly<Record<string, InputFile>>,
  decode: Decode,
): Promise<GivenInputs> {
  const given = new Map<string, Uint8Array>();
  for (const input of inputs) {
    const file = Object.hasOwn(files, input.name) ? files[input.name] : undefined;
    if (file !== undefined) given.set(input.name, await bytesOf(input, file, decode));
  }
  return given;
}

async function bytesOf(input: TensorInfo, file: InputFile, decode: Decode): Promise<Uint8Array> {
  if (PICTURE.test(file.name)) {
    const plane = planeOf(input);
    if (plane === undefined)
      throw new InputFileError(
        file.name,
        `is a picture, but the input ${input.name} takes [${input.shape.join(", ")}]: a picture fits one of 1 or 3 ` +
          `channels, as [1, 3, height, width] or [1, height, width, 3]`,
      );
    return pictureTensor(await decode(file, plane), plane, input.dtype);
  }
  const { bytes, shape } = inputTensor(input, file.bytes, file.name);
  if (shape.length !== input.shape.length || shape.some((dim, k) => dim !== input.shape[k]))
    throw new InputFileError(
      file.name,
      `is [${shape.join(", ")}], but the input ${input.name} takes [${input.shape.join(", ")}]`,
    );
  // What is a truth value is 0 or 1, in whatever file it came.
  if (input.dtype === DType.bool && bytes.some((byte) => byte > 1))
    throw new InputFileError(file.name, `holds bytes other than 0 and 1, but the input ${input.name} takes bool`);
  return bytes;
}
