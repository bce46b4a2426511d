import { leaveOut } from "../shared/leaveOut.ts";
import { Redis, serverProgram } from "./redis.ts";

/** Starts a server before the tests of a suite. Without one on this machine, the tests are left out. */
export function useRedis(): () => Redis {
  let redis: Redis | undefined;
  before(async function () {
    const program = serverProgram();
    if (program === undefined) leaveOut(this, "no redis-server is there (Debian package redis-server)");
    redis = new Redis(program);
    await redis.start();
  });
  after(() => redis?.close());
  return () => redis!;
}
