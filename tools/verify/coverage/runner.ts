/** Runs tests in a point-reporting copy: `node runner.ts OUTPUT FILES...`. Writes the ids of executed points. */
import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import hre from "hardhat";
import Mocha from "mocha";

const [output, ...files] = process.argv.slice(2);
const passed = new Set<number>();
hre.hooks.registerHandlers("network", {
  onCoverageData: (_context, tags) => {
    for (const tag of tags) passed.add(Number(`0x${tag}`));
    return Promise.resolve();
  },
});

/** Writes after each suite: an interrupted run leaves a result. */
const write = (): void => writeFileSync(output!, JSON.stringify([...passed]));

const mocha = new Mocha({ timeout: 600_000, reporter: class {} as never });
for (const file of files) mocha.addFile(resolve(file));
await mocha.loadFilesAsync();
await new Promise<void>((done) => {
  const runner = mocha.run(() => done());
  runner.on("test end", (test) => console.log(test.fullTitle()));
  runner.on("suite end", write);
  runner.on("fail", (test, error) => console.log(`@${test.fullTitle()}: ${String(error).split("\n")[0]}`));
});
write();
process.exit(0);
