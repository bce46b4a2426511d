import type { Address, Hex } from "viem";
import { RpcUnavailableError } from "../../chain/errors.ts";
import { translateError } from "../../chain/translateError.ts";
import { errorWithCode } from "../../base/errors.ts";
import type { Session } from "../../chain/market/session.ts";

/**
 * The account has code, or delegates to some (EIP-7702). A game pays such an account nothing, and takes neither reveals
 * nor settlements from it.
 */
export class NotPlainAccountError extends errorWithCode("NOT_PLAIN_ACCOUNT") {}

/** Prefix of a delegating account's code (EIP-7702); the delegate's address follows. */
const DELEGATES = "0xef0100";

/**
 * Checks that games can be played from a session's account.
 * @throws NotPlainAccountError if it has code, RpcUnavailableError
 */
export async function requirePlainAccount(session: Pick<Session, "publicClient" | "sender">): Promise<void> {
  const error = await accountProblem(session);
  if (error !== undefined) throw error;
}

/**
 * The same at the start of a role. Without an answer, the role begins: its rounds look at the account again.
 * @throws NotPlainAccountError if the account has code
 */
export async function requirePlainAccountAtStart(session: Pick<Session, "publicClient" | "sender">): Promise<void> {
  await requirePlainAccount(session).catch((error: unknown) => {
    if (!(error instanceof RpcUnavailableError)) throw error;
  });
}

/**
 * Why games cannot be played from a session's account, and what to do.
 * @returns undefined if they can.
 * @throws RpcUnavailableError
 */
export async function accountProblem({
  publicClient,
  sender: { address },
}: Pick<Session, "publicClient" | "sender">): Promise<NotPlainAccountError | undefined> {
  const code = await publicClient.getCode({ address }).catch((error: unknown) => {
    throw translateError(error, "reading the account's code");
  });
  if (code === undefined || code === "0x") return undefined;
  if (!code.startsWith(DELEGATES))
    return new NotPlainAccountError(`${address} is a contract; ${TAKES_NONE}; use a key of its own`);
  return new NotPlainAccountError(
    `${address} delegates to ${delegateOf(code)} (EIP-7702); ${TAKES_NONE}; clear the delegation by an authorisation ` +
      `of this key to the zero address (docs/operating.md, "Delegations"), or use another account`,
  );
}

const TAKES_NONE = "a game takes no reveals from such an account, and pays it nothing";

const delegateOf = (code: Hex): Address => `0x${code.slice(DELEGATES.length)}`;
