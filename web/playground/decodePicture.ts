import { InputFileError } from "../../src/model/onnx/inputs/errors.ts";
import type { Decode } from "./inputs.ts";

/** Reads a picture as the browser does. */
export const decodePicture: Decode = async (file, { width, height }) => {
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
  bitmap.close();
  return context.getImageData(0, 0, width, height).data;
};
