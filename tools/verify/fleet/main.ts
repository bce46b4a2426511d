/**
 * `npm run fleet:check`: what a queue of executions promises, on a server of Valkey or Redis, and claims that four
 * executors judge, two of which are killed; then a worker and a watcher on a chain of anvil. At length:
 * `npm run fleet:check -- 1000`. Left out with a message where no server is installed (Debian package `redis-server`).
 */
import { judgeClaims } from "./claims.ts";
import { playOnChain } from "./onChain.ts";
import { QueueChecks } from "./queue.ts";
import { Redis, serverProgram } from "./redis.ts";

/** Claims that are judged if nothing else is said. */
const CLAIMS = 120;

const program = serverProgram();
if (program === undefined) console.log("no redis-server is there (Debian package redis-server): fleets are left out");
else {
  const redis = new Redis(program);
  await redis.start();
  try {
    await new QueueChecks(redis).run();
    await judgeClaims(redis, Number(process.argv[2] ?? CLAIMS));
    await playOnChain(redis);
  } finally {
    await redis.close();
  }
}
