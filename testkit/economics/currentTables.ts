import { readDeployment } from "./deployment.ts";
import { panelTables } from "./panelTables.ts";
import { economicsTables, type Tables } from "./tables.ts";

/** The arities, as bits, that the page compares. */
const ARITY_BITS = [1, 2, 3, 4, 5, 6];

/** The tables of docs/economics.md by name, from the default deployment on an embedded chain. */
export async function currentTables(): Promise<Tables> {
  const { deployment, bounds } = await readDeployment(ARITY_BITS);
  return { ...economicsTables(deployment, bounds), ...panelTables(deployment) };
}
