import { translateError } from "../../src/chain/translateError.ts";

/**
 * Returns a contract's refusal of a deployment or a call: the error with values, read from the revert data; "accepted"
 * without a refusal.
 */
export const refusalOf = (done: Promise<unknown>): Promise<string> =>
  done.then(
    () => "accepted",
    (error: unknown) => translateError(error, "what was asked").message,
  );
