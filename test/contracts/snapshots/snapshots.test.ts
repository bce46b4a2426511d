import { expect } from "chai";
import { readdirSync, readFileSync } from "node:fs";
import { differences, takeSnapshots } from "../../../tools/write/snapshot/snapshots.ts";

const ACCEPT = "if that is meant, accept it by `npm run write -- snapshot`";

describe("snapshots of ABI and storage layout", function () {
  this.timeout(120_000);

  it("everyDeployedContract_isAsCommitted", () => {
    const now = takeSnapshots();
    const files = readdirSync("test/contracts/snapshots")
      .filter((name) => name.endsWith(".txt"))
      .map((name) => `test/contracts/snapshots/${name}`);
    expect(files, `a snapshot too many or too few: ${ACCEPT}`).to.have.members([...now.keys()]);
    for (const [path, text] of now) {
      const changed = differences(readFileSync(path, "utf8"), text);
      expect(changed, `${path}: ABI or storage changed; ${ACCEPT}\n${changed.join("\n")}\n`).to.deep.equal([]);
    }
  });

  it("changedStorage_isNamed", () => {
    const now = takeSnapshots((path) => {
      const source = readFileSync(path, "utf8");
      return path === "contracts/vault/StakeVault.sol" ? source.replace("uint64 readyAt", "uint128 readyAt") : source;
    });
    const path = "test/contracts/snapshots/StakeVault.txt";
    const changed = differences(readFileSync(path, "utf8"), now.get(path)!);
    expect(changed.join("\n")).to.match(/- .*uint64 readyAt[^]*\+ .*uint128 readyAt/);
  });

  it("sameLinesInAnotherOrder_differ", () => {
    expect(differences("a\nb\n", "b\na\n")).to.deep.equal(["the order of the lines"]);
    expect(differences("a\n", "a\n")).to.deep.equal([]);
  });
});
