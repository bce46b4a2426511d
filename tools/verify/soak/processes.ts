import { anvilBinary } from "../../../src/deploy/devnet/anvil.ts";

/** Before processes are started: anvil must be there, and a signal must end them with this one. @throws Error */
export function prepareForProcesses(): void {
  const binary = anvilBinary();
  if (typeof binary !== "string") throw new Error(binary.missing);
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
}
