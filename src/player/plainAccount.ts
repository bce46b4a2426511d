import { errorWithCode } from "../errors.ts";
import type { Session } from "../market/session.ts";

/**
 * The account has code, or delegates to some (EIP-7702). A game pays such an account nothing, and takes neither reveals
 * nor settlements from it.
 */
export class NotPlainAccountError extends errorWithCode("NOT_PLAIN_ACCOUNT") {}

/**
 * Checks that games can be played from a session's account.
 * @throws NotPlainAccountError if it has code
 */
export async function requirePlainAccount({
  publicClient,
  sender,
}: Pick<Session, "publicClient" | "sender">): Promise<void> {
  const code = await publicClient.getCode({ address: sender.address });
  if (code === undefined || code === "0x") return;
  throw new NotPlainAccountError(
    `${sender.address} has code: it is a contract or delegates to one, and a game takes no reveals from such; ` +
      `revoke the delegation or use another account`,
  );
}
