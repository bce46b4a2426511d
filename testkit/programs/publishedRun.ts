import { numberToHex } from "viem";
import type { ClaimForm } from "../../src/chain/market/claimForm.ts";
import type { JobRecord } from "../../src/chain/market/history.ts";
import { toHex } from "../../src/program/merkle/hash.ts";
import type { KnownProgram } from "../../src/dispute/run/execution.ts";
import { answersOf } from "../../src/parties/requester/postJob.ts";
import type { RunInputs } from "../../src/program/trace/runInputs.ts";

/** Returns a job with `items` items in the history's form, after all inputs have been published, each in one part. */
export function publishedRun(
  { model, commitment }: KnownProgram,
  inputs: RunInputs,
  id = 1,
  form: ClaimForm = "trace",
): JobRecord {
  const bytes = model.program.inputs.flatMap((_, k) => {
    const posted = inputs.posted(k);
    return posted.length === 0 ? [] : [[k, new Map([[0, toHex(Buffer.concat(posted))]])] as const];
  });
  return {
    id: numberToHex(id, { size: 32 }),
    job: {
      programRoot: model.programRoot,
      inputsRoot: inputs.list.root,
      ...inputs.length,
      answers: answersOf({ answer: form === "answer" }, model.program.outputs.length),
    },
    program: { header: toHex(commitment.header) },
    inputRoots: inputs.roots,
    parts: new Map(bytes),
    claims: [],
  } as unknown as JobRecord;
}
