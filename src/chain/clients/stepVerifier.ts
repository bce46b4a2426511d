import { encodeFunctionData, type Address, type ContractFunctionArgs, type Hex } from "viem";
import { stepVerifierAbi } from "../abi/stepVerifier.ts";
import type { ReadAccess } from "./access.ts";

/**
 * The data from which the verifier recomputes an element: the step's body, the element's number, the tensor roots of
 * the step's inputs (32 zero bytes for a constant), and, for each input, the chunks that the element reads.
 */
export type ElementProof = ContractFunctionArgs<typeof stepVerifierAbi, "view", "evaluate">;

/** The step verifier: it recomputes single elements of a step's output. */
export class StepVerifier {
  readonly #publicClient: ReadAccess["publicClient"];
  readonly #contract: { address: Address; abi: typeof stepVerifierAbi };

  constructor(address: Address, { publicClient }: ReadAccess) {
    this.#publicClient = publicClient;
    this.#contract = { address, abi: stepVerifierAbi };
  }

  /** Returns an element's word by eth_call, free of charge. An invalid proof reverts. */
  evaluate(...proof: ElementProof): Promise<bigint> {
    return this.#publicClient.readContract({ ...this.#contract, functionName: "evaluate", args: proof });
  }
}

/** The calldata of `evaluate`. */
export const evaluateCalldata = (proof: ElementProof): Hex =>
  encodeFunctionData({ abi: stepVerifierAbi, functionName: "evaluate", args: proof });
