import { parseEventLogs, type Address, type ContractFunctionArgs, type Hex, type TransactionReceipt } from "viem";
import { textDirectionDappAbi } from "../abi/textDirectionDapp.ts";
import type { Job, ProgramFacts } from "../structs.ts";
import type { Access } from "./access.ts";

/** A question's price and limits: the fee in the smallest unit of the stake asset, times in seconds. */
type QuestionTerms = ContractFunctionArgs<typeof textDirectionDappAbi, "nonpayable", "ask">[3];

/** The example dapp: asks whether a text line is upright. */
export class TextDirectionDapp {
  readonly #sender: Access["sender"];
  readonly #contract: { address: Address; abi: typeof textDirectionDappAbi };

  constructor(address: Address, { sender }: Pick<Access, "sender">) {
    this.#sender = sender;
    this.#contract = { address, abi: textDirectionDappAbi };
  }

  /**
   * Asks about a picture. The dapp posts the job and takes the fee from the sender, who must have approved the fee.
   * @param picture The bytes of the program's input tensor, with tensor root `pictureRoot`.
   * @throws ContractRevertError `WrongProgram`, `WindowBelowMinimum`, `FeeNotArrived`, `SafeERC20FailedOperation` and
   *   the errors of `JobMarket.post`
   */
  ask(program: ProgramFacts, picture: Hex, pictureRoot: Hex, terms: QuestionTerms): Promise<TransactionReceipt> {
    const args = [program, picture, pictureRoot, terms] as const;
    return this.#sender.send({ ...this.#contract, functionName: "ask", args });
  }

  /**
   * Sends the returned part of a question's fee to the sender, who must be the asker. A question that nobody took is
   * cancelled.
   * @throws ContractRevertError `NotAsker`, `FeeNotReturned`, `TimeNotUp`
   */
  refund(job: Job): Promise<TransactionReceipt> {
    return this.#sender.send({ ...this.#contract, functionName: "refund", args: [job] });
  }
}

/** Returns the job id from a question's receipt. @param receipt Of `ask`. */
export function askedJob({ logs }: TransactionReceipt): Hex {
  const [asked] = parseEventLogs({ abi: textDirectionDappAbi, logs, eventName: "Asked" });
  return asked!.args.jobId;
}
