import type { Logger } from "../../base/log.ts";
import { ContractRevertError, isDone, TransactionRevertedError } from "../../chain/errors.ts";
import { withoutPaths } from "../../base/redact.ts";

/** Actions whose lost race is remembered. */
const MAX_LOST = 1_000;

/**
 * Tells lost races from defects. Others act on the same jobs, claims and games, so that a contract may refuse what the
 * last snapshot still asked for. That is expected once. If the same refusal comes again, from a snapshot of a later
 * block, it is no race, unless the refusal says that the effect is there: a node may be behind the node that refused.
 */
export class Races {
  readonly #log: Logger;
  /** The latest refusal, and the block of the snapshot that first led to the refusal, by action. */
  readonly #lost = new Map<string, { reason: string; blockNumber: bigint }>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /**
   * Runs an action that others may do first. The log calls a contract's first refusal a lost race.
   * @param doing The action's description, for the log.
   * @param id The job, claim or game of the action.
   * @param blockNumber The block of the snapshot that asks for the action.
   * @throws any other error, or the same refusal again from a later block, if the effect is not there
   */
  async run(doing: string, id: string, blockNumber: bigint, action: () => Promise<void>): Promise<void> {
    const key = `${doing} ${id}`;
    try {
      await action();
      this.#lost.delete(key);
    } catch (error) {
      if (!(error instanceof ContractRevertError || error instanceof TransactionRevertedError)) throw error;
      const reason = reasonOf(error);
      const last = this.#lost.get(key);
      const isAgain = last?.reason === reason;
      if (isAgain && last.blockNumber < blockNumber && !isDone(error)) throw error;
      this.#lost.delete(key);
      this.#lost.set(key, isAgain ? last : { reason, blockNumber });
      if (this.#lost.size > MAX_LOST) this.#lost.delete(this.#lost.keys().next().value!);
      if (isAgain) return;
      const fields = error instanceof TransactionRevertedError ? { transactionHash: error.transactionHash } : {};
      this.#log.info(
        { code: error.code, id, reason: withoutPaths(error.message), ...fields },
        `${doing}: somebody was faster, or the state changed`,
      );
    }
  }
}

/** Each try has another transaction. */
const reasonOf = (error: ContractRevertError | TransactionRevertedError): string =>
  error instanceof ContractRevertError ? error.message : error.code;
