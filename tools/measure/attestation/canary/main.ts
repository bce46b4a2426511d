/** Measures the share of real jobs that a worker can tell from canaries: docs/provisioning.md. */
import { readOptions } from "../../../options.ts";
import { PURSES, study } from "./study.ts";

const COUNT = 3_000;
const SEED = 1_000;
const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

readOptions({});
for (const purse of PURSES) {
  const { picked } = study(purse, COUNT, SEED);
  console.log(
    `${purse.name}: ${Object.entries(picked)
      .map(([name, share]) => `${name} ${percent(share)}`)
      .join(", ")}`,
  );
}
