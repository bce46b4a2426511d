// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {P256} from "@openzeppelin/contracts/utils/cryptography/P256.sol";
import {IQuoteVerifier} from "../interfaces/IQuoteVerifier.sol";
import {DongleQuote} from "./DongleQuote.sol";

/// @title Quotes of the dongle: a manufacturer's P-256 key endorses a device's, which signs.
contract DongleQuoteVerifier is IQuoteVerifier {
    error BadEndorsement(bytes32 manufacturer, bytes32 device);
    error BadSignature(bytes32 device);
    error NoP256Precompile();

    address private constant P256_PRECOMPILE = address(0x100);
    /// @dev A signature that holds, by which the precompile is tried: RFC 6979, A.2.5, SHA-256 of "test".
    bytes32 private constant KNOWN_DIGEST = sha256("test");
    bytes32 private constant KNOWN_R = 0xf1abb023518351cd71d881567b1ea663ed3efcf6c5132b354f28d3b0b7d38367;
    bytes32 private constant KNOWN_S = 0x019f4113742a2b14bd25926b49c649155f267e60d3814b4c0cc84250e46f0083;
    bytes32 private constant KNOWN_X = 0x60fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6;
    bytes32 private constant KNOWN_Y = 0x7903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299;

    /// @dev Reverts with `NoP256Precompile` on a chain without the precompile of RIP-7212 and EIP-7951: P-256 in
    /// Solidity costs some 350,000 gas a signature, which nobody here reckoned with.
    constructor() {
        (bool ok, bytes memory answer) = P256_PRECOMPILE.staticcall(
            abi.encode(KNOWN_DIGEST, KNOWN_R, KNOWN_S, KNOWN_X, KNOWN_Y)
        );
        require(ok && answer.length == 32 && uint256(bytes32(answer)) == 1, NoP256Precompile());
    }

    /// @inheritdoc IQuoteVerifier
    function verify(bytes32 digest, bytes calldata quote) external view returns (bytes32 manufacturer, bytes32 device) {
        DongleQuote memory q = abi.decode(quote, (DongleQuote));
        manufacturer = keccak256(abi.encode(q.manufacturerX, q.manufacturerY));
        device = keccak256(abi.encode(q.deviceX, q.deviceY));
        bytes32 endorsed = sha256(abi.encode("refute device 1", q.deviceX, q.deviceY));
        require(
            P256.verifyNative(endorsed, q.endorsementR, q.endorsementS, q.manufacturerX, q.manufacturerY),
            BadEndorsement(manufacturer, device)
        );
        require(P256.verifyNative(digest, q.signatureR, q.signatureS, q.deviceX, q.deviceY), BadSignature(device));
    }
}
