import { readFile } from "node:fs/promises";
import { expect } from "chai";
import { format } from "prettier";
import { generateAbis } from "../../tools/write/abis.ts";

describe("src/chain/abi", function () {
  it("committedAbis_equalTheBuiltContracts", async function () {
    for (const [path, text] of await generateAbis()) {
      const expected = await format(text, { parser: "typescript", printWidth: 120 });
      expect(await readFile(path, "utf8"), `${path} is stale: run npm run write -- abi`).to.equal(expected);
    }
  });
});
