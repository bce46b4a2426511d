import type { Logger } from "../../base/log.ts";
import { ContractRevertError, TransactionRevertedError } from "../../chain/errors.ts";
import { withoutPaths } from "../../base/redact.ts";

/** Actions whose lost race is remembered. */
const MAX_LOST = 1_000;

/**
 * Tells lost races from defects. Others act on the same jobs, claims and games, so that a contract may refuse what the
 * last snapshot still asked for. That is expected once. If the same refusal comes again, from a newer snapshot, it is
 * no race.
 */
export class Races {
  readonly #log: Logger;
  /** The refusal of the latest try, by action. */
  readonly #lost = new Map<string, string>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /**
   * Runs an action that others may do first. The log calls a contract's first refusal a lost race.
   * @param doing The action's description, for the log.
   * @param id The job, claim or game of the action.
   * @throws any other error, or the same refusal a second time in a row
   */
  async run(doing: string, id: string, action: () => Promise<void>): Promise<void> {
    const key = `${doing} ${id}`;
    try {
      await action();
      this.#lost.delete(key);
    } catch (error) {
      const isRace = error instanceof ContractRevertError || error instanceof TransactionRevertedError;
      if (!isRace || this.#lost.get(key) === reasonOf(error)) throw error;
      this.#lost.delete(key);
      this.#lost.set(key, reasonOf(error));
      if (this.#lost.size > MAX_LOST) this.#lost.delete(this.#lost.keys().next().value!);
      const fields = error instanceof TransactionRevertedError ? { transactionHash: error.transactionHash } : {};
      const reason = withoutPaths(error.message);
      this.#log.info(
        { code: error.code, id, reason, ...fields },
        `${doing}: somebody was faster, or the state changed`,
      );
    }
  }
}

/** Each try has another transaction. */
const reasonOf = (error: ContractRevertError | TransactionRevertedError): string =>
  error instanceof ContractRevertError ? error.message : error.code;
