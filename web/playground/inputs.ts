import { DType } from "../../src/numerics/dtype.ts";
import { InputFileError } from "../../src/onnx/inputs/errors.ts";
import { inputTensor } from "../../src/onnx/inputs/readInputFile.ts";
import type { CompiledModel, TensorInfo } from "../../src/program/compiled.ts";
import { pictureTensor, planeOf, type Pixels } from "./picture.ts";
import type { InputFile } from "./protocol.ts";

/** The bytes of inputs that somebody gave, by name. */
export type GivenInputs = ReadonlyMap<string, Uint8Array>;

const PICTURE = /\.(png|jpe?g|webp|gif|avif|bmp)$/i;

/**
 * Reads the files that somebody gives as inputs: .npy, .json and .pb as the command line does, pictures by the browser.
 * @throws InputFileError that names the file, what is wrong and what would fit
 */
export async function givenInputs(
  { inputs }: Pick<CompiledModel, "inputs">,
  files: Readonly<Record<string, InputFile>>,
  decode = decodePicture,
): Promise<GivenInputs> {
  const given = new Map<string, Uint8Array>();
  for (const input of inputs) {
    const file = Object.hasOwn(files, input.name) ? files[input.name] : undefined;
    if (file !== undefined) given.set(input.name, await bytesOf(input, file, decode));
  }
  return given;
}

async function bytesOf(input: TensorInfo, file: InputFile, decode: typeof decodePicture): Promise<Uint8Array> {
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

/** A picture's pixels, drawn at the size that an input takes. */
async function decodePicture(file: InputFile, { width, height }: { width: number; height: number }): Promise<Pixels> {
  let bitmap: ImageBitmap;
  try {
    bitmap = await createImageBitmap(new Blob([file.bytes.slice().buffer]), {
      resizeWidth: width,
      resizeHeight: height,
      resizeQuality: "high",
    });
  } catch (cause) {
    throw new InputFileError(file.name, "is no picture that this browser reads: give a PNG or a JPEG", { cause });
  }
  const context = new OffscreenCanvas(width, height).getContext("2d")!;
  context.drawImage(bitmap, 0, 0);
  return context.getImageData(0, 0, width, height).data;
}
