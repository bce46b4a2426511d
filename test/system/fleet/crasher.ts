/** An executor that one task ends: `crasher.ts URL NAME`. It prints `took` for each task that it takes. */
import { takeTasks } from "../../../src/runs/fleet/bullTasks.ts";
import { PASSWORD } from "./redis.ts";
import { done, LEASE_MS, POISON } from "./tasks.ts";

const [url, name] = process.argv.slice(2) as [string, string];
const onError = (): void => undefined;
await takeTasks({ url, password: PASSWORD, onError, name, atOnce: 1, leaseMs: LEASE_MS }, ({ programRoot }) => {
  console.log("took");
  if (programRoot === POISON) process.exit(1);
  return Promise.resolve(done(name));
});
console.log("ready");
