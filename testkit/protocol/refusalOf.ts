import { ContractRevertError } from "../../src/chain/errors.ts";
import { translateError } from "../../src/chain/translateError.ts";

/**
 * Returns a contract's refusal of a deployment or a call: the error with its bare values, read from the revert data;
 * "accepted" without a refusal.
 */
export const refusalOf = (done: Promise<unknown>): Promise<string> =>
  done.then(
    () => "accepted",
    (error: unknown) => {
      const refusal = translateError(error, "what was asked");
      if (!(refusal instanceof ContractRevertError)) return refusal.message;
      return `what was asked is refused: ${refusal.errorName}(${refusal.args.map(String).join(", ")})`;
    },
  );
