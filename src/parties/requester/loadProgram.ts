import type { ProgramDescription } from "./description.ts";
import type { LoadOptions } from "./describeModel.ts";

/**
 * Reads and compiles an ONNX model, and describes the program for posting jobs. The compiler is loaded by the first
 * call. It needs Node: a dapp for browsers ships the description.
 * @param from Path of a file, or its bytes.
 * @throws the reader's and the compiler's errors, which name the file and the node; DescriptionError
 */
export async function loadProgram(from: string | Uint8Array, options: LoadOptions = {}): Promise<ProgramDescription> {
  const { describeModel } = await import("./describeModel.ts");
  return describeModel(from, options);
}
