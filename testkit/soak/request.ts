import type { JobRequest } from "../../src/chain/structs.ts";
import { concatenated } from "../../src/program/merkle/concatenated.ts";
import { toHex } from "../../src/program/merkle/hash.ts";
import { programFacts } from "../../src/dispute/run/execution.ts";
import type { SoakMarket } from "./market.ts";
import type { SoakProgram } from "./programs.ts";

/** The fields of a program's request, including fee and window. Times are seconds, the fee wei. */
type Asked = Partial<JobRequest> & Pick<JobRequest, "fee" | "window" | "maxOutputBytes">;

/** A request for a program with all its inputs, without terms and due in days, but for what is asked otherwise. */
export const requestOf = (market: SoakMarket, { known, inputs, form }: SoakProgram, asked: Asked): JobRequest => ({
  program: programFacts(known.commitment),
  inputRoots: inputs.roots,
  inputs: inputs.roots.map((_, k) => toHex(concatenated(inputs.posted(k)))),
  ...inputs.length,
  claimSeconds: 600,
  deadline: BigInt(market.chain.now + 400_000),
  callbackGas: 0,
  rootOnly: false,
  terms: [],
  answer: form === "answer",
  salt: market.nextSalt(),
  ...asked,
});
