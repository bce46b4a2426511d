import { zeroHash, type Address, type Hex, type TransactionReceipt } from "viem";
import { agentValidationsAbi } from "../abi/agentValidations.ts";
import { refuteValidatorAbi } from "../abi/refuteValidator.ts";
import type { Claim } from "../structs.ts";
import type { Access } from "./access.ts";

/** No field of the class: a declaration would bring the ABI along. */
const contractAt = (address: Address) => ({ address, abi: refuteValidatorAbi });

/** A question to a validator: whether an agent's claim is final. */
type Validation = { agentId: bigint; claim: Claim; salt: Hex };

/** An answer in ERC-8004's registry. `response` is 100 or 0. */
export type ValidationAnswer = { response: number; tag: string };

/** A validator for ERC-8004's registry, and the registry's functions for askers. */
export class RefuteValidator {
  readonly #access: Access;
  readonly address: Address;

  constructor(address: Address, access: Access) {
    [this.address, this.#access] = [address, access];
  }

  /** The contract whose claims count. */
  claims(): Promise<Address> {
    return this.#access.publicClient.readContract({ ...contractAt(this.address), functionName: "claims" });
  }

  /** ERC-8004's registry, the receiver of the answers. */
  registry(): Promise<Address> {
    return this.#access.publicClient.readContract({ ...contractAt(this.address), functionName: "registry" });
  }

  /** The bytes of a question; the registry takes their hash. */
  payloadOf({ agentId, claim, salt }: Validation): Promise<Hex> {
    const args = [agentId, claim, salt] as const;
    return this.#access.publicClient.readContract({ ...contractAt(this.address), functionName: "payloadOf", args });
  }

  /** The hash of the question by which a claim was reported; undefined before. */
  async requestOf(agentId: bigint, claimId: Hex): Promise<Hex | undefined> {
    const args = [agentId, claimId] as const;
    const call = { ...contractAt(this.address), functionName: "requestOf", args } as const;
    const hash = await this.#access.publicClient.readContract(call);
    return hash === zeroHash ? undefined : hash;
  }

  /**
   * Answers a question in the registry. Anyone may.
   * @throws ContractRevertError `NotAsked`, `NotOfAgent`, `ClaimNotOver`, `InputsHidden`, `AlreadyReported`
   */
  report({ agentId, claim, salt }: Validation): Promise<TransactionReceipt> {
    const args = [agentId, claim, salt] as const;
    return this.#access.sender.send({ ...contractAt(this.address), functionName: "report", args });
  }

  /** Whether the registry knows a question to the validator about an agent. */
  async isAsked(registry: Address, hash: Hex): Promise<boolean> {
    // For an unknown question, the registry fails.
    return this.answerOf(registry, hash).then(
      () => true,
      () => false,
    );
  }

  /** The registry's answer to a question; 0 with an empty tag before the report. */
  async answerOf(registry: Address, hash: Hex): Promise<ValidationAnswer> {
    const call = { address: registry, abi: agentValidationsAbi, functionName: "getValidationStatus" } as const;
    const [, , response, , tag] = await this.#access.publicClient.readContract({ ...call, args: [hash] });
    return { response, tag };
  }

  /**
   * Asks in the registry. Only the agent's owner or operator may.
   * @param uri Where the payload is.
   * @throws ContractRevertError with the registry's reason
   */
  ask(registry: Address, agentId: bigint, uri: string, hash: Hex): Promise<TransactionReceipt> {
    const args = [this.address, agentId, uri, hash] as const;
    const call = { address: registry, abi: agentValidationsAbi, functionName: "validationRequest", args } as const;
    return this.#access.sender.send(call);
  }
}
