// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IProvisioning} from "../interfaces/IProvisioning.sol";

/// @title Refuses a chain without the features that reports need: some chains answer both calls with wrong results.
library ChainProbes {
    address private constant P256_PRECOMPILE = address(0x100);
    /// @dev A signature that holds: RFC 6979, A.2.5, SHA-256 of "test".
    bytes32 private constant KNOWN_DIGEST = sha256("test");
    bytes32 private constant KNOWN_R = 0xf1abb023518351cd71d881567b1ea663ed3efcf6c5132b354f28d3b0b7d38367;
    bytes32 private constant KNOWN_S = 0x019f4113742a2b14bd25926b49c649155f267e60d3814b4c0cc84250e46f0083;
    bytes32 private constant KNOWN_X = 0x60fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6;
    bytes32 private constant KNOWN_Y = 0x7903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299;

    /// @dev Reverts with `NoP256Precompile` on a chain without the precompile of RIP-7212 and EIP-7951. P-256 in
    /// Solidity costs some 350,000 gas per signature, and no gas bound here includes that cost.
    function requireP256() internal view {
        (bool ok, bytes memory answer) = _verify(KNOWN_DIGEST);
        require(ok && answer.length == 32 && uint256(bytes32(answer)) == 1, IProvisioning.NoP256Precompile());
        (ok, answer) = _verify(~KNOWN_DIGEST);
        require(ok && (answer.length == 0 || bytes32(answer) == 0), IProvisioning.NoP256Precompile());
    }

    /// @dev Reverts with `NoBlockHashes` unless the chain knows the hashes of the last two blocks, both hashes differ,
    /// and the current block has no hash yet.
    function requireBlockHashes() internal view {
        require(block.number >= 2, IProvisioning.NoBlockHashes());
        bytes32 last = blockhash(block.number - 1);
        require(
            last != 0 && last != blockhash(block.number - 2) && blockhash(block.number) == 0,
            IProvisioning.NoBlockHashes()
        );
    }

    function _verify(bytes32 digest) private view returns (bool, bytes memory) {
        return P256_PRECOMPILE.staticcall(abi.encode(digest, KNOWN_R, KNOWN_S, KNOWN_X, KNOWN_Y));
    }
}
