import type { EdrNetworkConfig } from "hardhat/types/config";
import type { NetworkHooks } from "hardhat/types/hooks";
import { EmbeddedPool, type Ask } from "./embeddedPool.ts";
import { ETHEREUM_LIMITS, type PoolLimits } from "./poolRules.ts";

/** In place of a limit: nothing exceeds it. */
const UNLIMITED = Number.MAX_SAFE_INTEGER;

/**
 * Returns the limits of the pool before a chain: Ethereum's usual limits, except where the chain's setup allows more.
 */
function limitsOf({ allowUnlimitedContractSize, blockGasLimit, transactionGasCap }: EdrNetworkConfig): PoolLimits {
  const gas = (cap: bigint | false | undefined, usual: bigint): bigint =>
    cap === false ? BigInt(UNLIMITED) : (cap ?? usual);
  return {
    ...ETHEREUM_LIMITS,
    ...(allowUnlimitedContractSize === true ? { maxBytes: UNLIMITED, maxInitCodeBytes: UNLIMITED } : {}),
    maxGas: gas(transactionGasCap, ETHEREUM_LIMITS.maxGas),
    blockGas: gas(blockGasLimit, ETHEREUM_LIMITS.blockGas),
  };
}

/** Puts a pool before each embedded chain that Hardhat starts. Every sender then meets real nodes' rules. */
export function poolHooks(): Pick<NetworkHooks, "onRequest"> {
  const pools = new WeakMap<object, EmbeddedPool>();
  return {
    onRequest: async (context, connection, request, next) => {
      const { networkConfig } = connection;
      if (networkConfig.type !== "edr-simulated") return next(context, connection, request);
      const pool = pools.get(connection) ?? new EmbeddedPool(limitsOf(networkConfig));
      pools.set(connection, pool);
      const ask: Ask = async (method, params) => {
        const answer = await next(context, connection, { ...request, method, params: [...params] });
        return "result" in answer ? answer.result : undefined;
      };
      const params = Array.isArray(request.params) ? (request.params as unknown[]) : [];
      return { jsonrpc: "2.0", id: request.id, result: await pool.request(ask, request.method, params) };
    },
  };
}
