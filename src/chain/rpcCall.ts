/** A JSON-RPC request. */
export type RpcCall = { method: string; params?: unknown };
