// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {EnclaveIdentity, SvnLevel, TcbInfo, TcbLevel} from "../../interfaces/ITdxQuoteVerifier.sol";
import {Certificate, Certificates} from "./Certificates.sol";
import {DocumentText} from "./DocumentText.sol";
import {ITdxReader} from "./ITdxReader.sol";
import {PckExtension, PckFacts} from "./PckExtension.sol";
import {RevocationList, RevocationLists} from "./RevocationLists.sol";

/// @title Reads Intel's signed documents. A contract separate from the verifier, which would otherwise be too large.
/// @dev The returned facts have the layout that TcbLevels reads, without the head.
contract TdxReader is ITdxReader {
    uint256 private constant MAX_LEVELS = 40;

    /// @inheritdoc ITdxReader
    function readCertificate(bytes calldata der) external pure returns (Certificate memory) {
        return Certificates.parse(der);
    }

    /// @inheritdoc ITdxReader
    function readPlatformCertificate(
        bytes calldata der
    ) external pure returns (Certificate memory certificate, PckFacts memory facts) {
        certificate = Certificates.parse(der);
        require(certificate.sgxStart != 0, NoSgxExtension());
        facts = PckExtension.parse(der, certificate.sgxStart, certificate.sgxStop);
    }

    /// @inheritdoc ITdxReader
    function readRevocationList(
        bytes calldata der,
        uint256[] calldata serials
    ) external pure returns (RevocationList memory list, bool[] memory isListed) {
        list = RevocationLists.parse(der);
        isListed = new bool[](serials.length);
        for (uint256 k = 0; k < serials.length; ++k) isListed[k] = RevocationLists.contains(der, list, serials[k]);
    }

    /// @inheritdoc ITdxReader
    function readTcbInfo(TcbInfo calldata info) external pure returns (bytes32 digest, bytes memory facts) {
        digest = DocumentText.digest(info);
        uint256 count = 0;
        for (uint256 k = 0; k < info.modules.length; ++k) {
            SvnLevel[] calldata levels = info.modules[k].levels;
            for (uint256 j = 0; j < levels.length; ++j) {
                // No module has a version above 255.
                if (levels[j].svn > type(uint8).max) continue;
                ++count;
                facts = abi.encodePacked(facts, info.modules[k].version, uint8(levels[j].svn), levels[j].status);
            }
        }
        _requireFew(count);
        _requireFew(info.levels.length);
        facts = abi.encodePacked(uint8(count), facts);
        for (uint256 k = 0; k < info.levels.length; ++k) {
            TcbLevel calldata level = info.levels[k];
            facts = abi.encodePacked(facts, level.svns, level.tdxSvns, level.pceSvn, level.status);
        }
    }

    /// @inheritdoc ITdxReader
    function readEnclaveIdentity(
        EnclaveIdentity calldata identity
    ) external pure returns (bytes32 digest, bytes memory facts) {
        digest = DocumentText.digest(identity);
        _requireFew(identity.levels.length);
        facts = abi.encodePacked(
            identity.mrsigner,
            identity.attributes,
            identity.attributesMask,
            identity.miscselect,
            identity.miscselectMask,
            identity.product
        );
        for (uint256 k = 0; k < identity.levels.length; ++k)
            facts = abi.encodePacked(facts, identity.levels[k].svn, identity.levels[k].status);
    }

    function _requireFew(uint256 levels) private pure {
        require(levels <= MAX_LEVELS, TooManyLevels(levels, MAX_LEVELS));
    }
}
