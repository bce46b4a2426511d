/** The error that a node answers with. */
export class NodeError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor({ message, code, data }: { message: string; code: number; data?: unknown }) {
    super(message);
    [this.code, this.data] = [code, data];
  }
}

/**
 * Asks a node over HTTP, without the patience of a client.
 * @throws NodeError if it answers with an error, TypeError if it does not answer
 */
export async function askNode(url: string, method: string, params: readonly unknown[]): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const answer = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body });
  const { result, error } = (await answer.json()) as { result?: unknown; error?: { message: string; code: number } };
  if (error !== undefined) throw new NodeError(error);
  return result;
}
