import { expect } from "chai";
import { randomBytes } from "node:crypto";
import { bytesToHex, concatHex, hashTypedData, numberToHex, recoverAddress, slice, zeroHash, type Hex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { loadFindSigner, type FindSigner } from "../../../src/parties/tickets/signatures.ts";
import { digestOf, typedData } from "../../../src/parties/tickets/typedData.ts";
import { otherSignatures } from "../../../testkit/players/otherSignatures.ts";

describe("signatures of claims and tickets", () => {
  let findSigner: FindSigner;
  before(async () => void (findSigner = await loadFindSigner()));

  it("haveTheSignerThatViemFinds", async () => {
    for (let k = 0; k < 50; k++) {
      const account = privateKeyToAccount(generatePrivateKey());
      const hash = bytesToHex(randomBytes(32));
      const signature = await account.sign({ hash });
      expect(findSigner(hash, signature)).to.equal(account.address);
      // Of another digest it is another's, whom viem finds too.
      const other = bytesToHex(randomBytes(32));
      expect(findSigner(other, signature)).to.equal(await recoverAddress({ hash: other, signature }));
    }
  });

  it("thatTheContractsRefuse_haveNoSigner", async () => {
    const account = privateKeyToAccount(generatePrivateKey());
    const hash = bytesToHex(randomBytes(32));
    const signature = await account.sign({ hash });
    for (const other of otherSignatures(signature)) {
      expect(await recoverAddress({ hash, signature: other })).to.equal(account.address);
      expect(findSigner(hash, other)).to.equal(undefined);
    }
    const max: Hex = `0x${"f".repeat(64)}`;
    const [s, v] = [slice(signature, 32, 64), slice(signature, 64)];
    for (const r of [zeroHash, max]) expect(findSigner(hash, concatHex([r, s, v]))).to.equal(undefined);
    for (const other of [zeroHash, max])
      expect(findSigner(hash, concatHex([slice(signature, 0, 32), other, v]))).to.equal(undefined);
    for (const other of [2, 26, 29, 255])
      expect(findSigner(hash, concatHex([slice(signature, 0, 64), numberToHex(other, { size: 1 })]))).to.equal(
        undefined,
      );
  });

  it("areOfTheDigestThatViemHashes", () => {
    const at = { chainId: 1, tickets: privateKeyToAccount(generatePrivateKey()).address };
    const ticket = { claim: zeroHash, face: 2n ** 127n, odds: 3n, expiry: 4n, nonce: bytesToHex(randomBytes(32)) };
    for (const where of [at, { ...at, chainId: 2 }, at])
      expect(digestOf(where, "Ticket", ticket)).to.equal(hashTypedData(typedData(where, "Ticket", ticket)));
  });
});
