import { parseEventLogs, type Address, type ContractFunctionArgs, type Hex, type TransactionReceipt } from "viem";
import { textDirectionDappAbi } from "../abi/textDirectionDapp.ts";
import type { Job, ProgramFacts } from "../structs.ts";
import type { Access } from "./access.ts";

/** What a question costs and allows: the fee in the smallest unit of the stake asset, times in seconds. */
type QuestionTerms = ContractFunctionArgs<typeof textDirectionDappAbi, "nonpayable", "ask">[3];

/** The example dapp: it asks whether a line of text is upright. */
export class TextDirectionDapp {
  readonly #sender: Access["sender"];
  readonly #contract: { address: Address; abi: typeof textDirectionDappAbi };

  constructor(address: Address, { sender }: Pick<Access, "sender">) {
    this.#sender = sender;
    this.#contract = { address, abi: textDirectionDappAbi };
  }

  /**
   * Asks about a picture; the dapp posts the job and takes the fee from the sender, who must have approved it.
   * @param picture The bytes of the program's input tensor, `pictureRoot` their tensor root.
   * @throws ContractRevertError `WrongProgram`, `WindowBelowMinimum`, `FeeNotArrived`, `SafeERC20FailedOperation` and
   * those of `JobMarket.post`
   */
  ask(program: ProgramFacts, picture: Hex, pictureRoot: Hex, terms: QuestionTerms): Promise<TransactionReceipt> {
    const args = [program, picture, pictureRoot, terms] as const;
    return this.#sender.send({ ...this.#contract, functionName: "ask", args });
  }

  /**
   * Sends what came back of a question's fee to the sender, who asked it. A question that nobody took is cancelled.
   * @throws ContractRevertError `NotAsker`, `FeeNotReturned`, `TimeNotUp`
   */
  refund(job: Job): Promise<TransactionReceipt> {
    return this.#sender.send({ ...this.#contract, functionName: "refund", args: [job] });
  }
}

/** The id of the job that a question posted. @param receipt Of `ask`. */
export function askedJob({ logs }: TransactionReceipt): Hex {
  const [asked] = parseEventLogs({ abi: textDirectionDappAbi, logs, eventName: "Asked" });
  return asked!.args.jobId;
}
