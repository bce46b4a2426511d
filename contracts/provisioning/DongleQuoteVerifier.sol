// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {P256} from "@openzeppelin/contracts/utils/cryptography/P256.sol";
import {IQuoteVerifier} from "../interfaces/IQuoteVerifier.sol";
import {DongleQuote} from "./DongleQuote.sol";

/// @title Quotes of the dongle: a manufacturer's P-256 key endorses a device's, which signs.
contract DongleQuoteVerifier is IQuoteVerifier {
    error BadEndorsement(bytes32 manufacturer, bytes32 device);
    error BadSignature(bytes32 device);

    /// @inheritdoc IQuoteVerifier
    function verify(bytes32 digest, bytes calldata quote) external view returns (bytes32 manufacturer, bytes32 device) {
        DongleQuote memory q = abi.decode(quote, (DongleQuote));
        manufacturer = keccak256(abi.encode(q.manufacturerX, q.manufacturerY));
        device = keccak256(abi.encode(q.deviceX, q.deviceY));
        bytes32 endorsed = sha256(abi.encode("refute device 1", q.deviceX, q.deviceY));
        require(
            P256.verify(endorsed, q.endorsementR, q.endorsementS, q.manufacturerX, q.manufacturerY),
            BadEndorsement(manufacturer, device)
        );
        require(P256.verify(digest, q.signatureR, q.signatureS, q.deviceX, q.deviceY), BadSignature(device));
    }
}
