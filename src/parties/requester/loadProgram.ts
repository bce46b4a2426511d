import type { ProgramDescription } from "./description.ts";
import type { LoadOptions } from "./describeModel.ts";

/**
 * Reads and compiles an ONNX model, and describes the program for posting jobs. The first call loads the compiler. The
 * function needs Node: a browser dapp ships the description instead.
 * @param from A file's path or bytes.
 * @throws the reader's and the compiler's errors, which name the file and the node; DescriptionError
 */
export async function loadProgram(from: string | Uint8Array, options: LoadOptions = {}): Promise<ProgramDescription> {
  const { describeModel } = await import("./describeModel.ts");
  return describeModel(from, options);
}
