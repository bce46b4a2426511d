import type { SignedClaim } from "../../chain/structs.ts";
import type { KnownProgram } from "../../dispute/run/execution.ts";
import { sharedZeros } from "../../program/merkle/tensor.ts";
import { bytesOf, RunInputError, RunInputs } from "../../program/trace/runInputs.ts";
import { RefusedError } from "./errors.ts";
import { claimBody, type AnswerBody, type Question } from "./messages.ts";
import type { GivenAnswer } from "./workerLedger.ts";

/** Refuses a nonce of another request. */
export const usedNonce = (): RefusedError =>
  new RefusedError(409, "another request with this nonce was made before, or its answer is paid: use a new one");

/** Returns the part of a request that a later sending under the same nonce repeats: all but the time. */
export const aboutOf = (
  payer: string,
  { programRoot, inputsRoot, items, firstItem }: Pick<SignedClaim | Question["request"], keyof RunAbout>,
): string => [payer, programRoot, inputsRoot, items, firstItem].join(" ").toLowerCase();
type RunAbout = Pick<SignedClaim, "programRoot" | "inputsRoot" | "items" | "firstItem">;

/** Returns an answer as a message. */
export const bodyOf = ({ claim, signature, outputs }: GivenAnswer): AnswerBody => ({
  claim: claimBody(claim),
  signature,
  outputs: outputs.map((bytes) => Buffer.from(bytes).toString("base64")),
});

/** Reads the inputs of a question. @throws RefusedError */
export function inputsOf(
  { model }: KnownProgram,
  { inputs }: Question,
  length: { items: number; firstItem: number },
): RunInputs {
  try {
    return new RunInputs(
      model.program.inputs,
      length,
      inputs.map((text, k) => {
        const input = model.program.inputs[k];
        // Carried zeros become an empty text in the message.
        if (text === "" && input?.source?.kind === "carried") return sharedZeros(bytesOf(input));
        return Buffer.from(text, "base64");
      }),
    );
  } catch (error) {
    if (error instanceof RunInputError) throw new RefusedError(400, error.message, { cause: error });
    throw error;
  }
}
