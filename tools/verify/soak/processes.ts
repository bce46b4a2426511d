import { anvilBinary } from "../../../src/deploy/devnet/anvil.ts";

/**
 * Prepares for starting processes: requires anvil, and makes a signal end the processes with this process.
 * @throws Error
 */
export function prepareForProcesses(): void {
  const binary = anvilBinary();
  if (typeof binary !== "string") throw new Error(binary.missing);
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
}
