// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {PlatformStatus} from "../interfaces/IQuoteVerifier.sol";
import {ITdxQuoteVerifier} from "../interfaces/ITdxQuoteVerifier.sol";
import {Platform} from "./Platforms.sol";
import {Words} from "./Words.sol";

/// @title What is kept of Intel's documents: facts in fixed places, of which the chain has a hash. Here they are read,
/// after that hash was compared, so that they are whole.
/// @dev Facts of TCB info: number (4 bytes), authority (1), next update (5), count of module levels (1); module levels
/// of version (1), security version (1), status (1); then levels of SGX components (16), TDX components (16), PCE
/// version (2), status (1).
/// Facts of an enclave's identity: number (4), authority (1), next update (5), mrsigner (32), attributes (16), their
/// mask (16), miscselect (4), its mask (4), product (2); then levels of security version (2), status (1).
library TcbLevels {
    uint256 private constant HEAD_BYTES = 10;
    uint256 private constant MODULE_LEVEL_BYTES = 3;
    uint256 private constant LEVEL_BYTES = 35;
    uint256 private constant ENCLAVE_HEAD_BYTES = HEAD_BYTES + 74;
    uint256 private constant ENCLAVE_LEVEL_BYTES = 3;
    /// @dev The highest bit of each of 16 numbers of 16 bits.
    uint256 private constant HIGH_BITS = 0x8000800080008000800080008000800080008000800080008000800080008000;

    error NoTcbLevel();
    error ModuleUnknown(uint8 version);
    error ModuleTooOld(uint8 version, uint8 svn);
    error EnclaveTooOld(uint16 svn);
    error WrongEnclave();

    /// @notice The head of both facts.
    /// @dev Reverts with `UnknownDocument` if there is none.
    function head(bytes calldata facts) internal pure returns (uint32 number, uint8 authority, uint64 nextUpdate) {
        require(facts.length >= 32, ITdxQuoteVerifier.UnknownDocument(0));
        uint256 word = Words.load(facts, 0);
        return (uint32(word >> 224), uint8(word >> 216), uint64((word >> 176) & 0xffffffffff));
    }

    /// @notice The status of a platform's components and of its module, the worse one: Intel's first level that none of
    /// them is below.
    /// @dev Reverts with `ModuleUnknown`, `ModuleTooOld` or `NoTcbLevel`.
    /// @param facts Of TCB info.
    /// @param svns Of the platform's certificate.
    /// @param pceSvn Of the platform's certificate.
    /// @param tdxSvns The TDX components, as a trust domain's report has them.
    function statusOf(
        bytes calldata facts,
        bytes16 svns,
        uint16 pceSvn,
        bytes16 tdxSvns
    ) internal pure returns (PlatformStatus status) {
        uint256 version = uint8(tdxSvns[1]);
        uint256 pos = HEAD_BYTES + 1;
        uint256 levels = pos + Words.number(facts, HEAD_BYTES, 1) * MODULE_LEVEL_BYTES;
        PlatformStatus module = PlatformStatus.UpToDate;
        uint256 mask = type(uint128).max;
        if (version != 0) {
            module = _moduleStatus(facts, pos, levels, version, uint8(tdxSvns[0]));
            // The module's own identity speaks for the first two components.
            mask >>= 16;
        }
        uint256 sgx = _spread(uint128(svns));
        uint256 tdx = _spread(uint128(tdxSvns) & mask);
        for (pos = levels; pos < facts.length; pos += LEVEL_BYTES) {
            uint256 least = Words.load(facts, pos);
            bool fits =
                Words.number(facts, pos + 32, 2) <= pceSvn &&
                    _noneBelow(sgx, _spread(least >> 128)) &&
                    _noneBelow(tdx, _spread(least & mask));
            if (fits) return worse(PlatformStatus(Words.number(facts, pos + 34, 1)), module);
        }
        revert NoTcbLevel();
    }

    /// @notice The status of a platform's quoting enclave, which must have the identity of Intel's.
    /// @dev Reverts with `WrongEnclave` or `EnclaveTooOld`.
    /// @param facts Of the enclave's identity.
    function enclaveStatus(bytes calldata facts, Platform memory p) internal pure returns (PlatformStatus) {
        // Attributes and their mask, then miscselect and its mask.
        uint256 attributes = Words.load(facts, HEAD_BYTES + 32);
        uint256 misc = Words.number(facts, HEAD_BYTES + 64, 8);
        require(
            Words.load(facts, HEAD_BYTES) == uint256(p.mrsigner) &&
                ((attributes >> 128) ^ uint128(p.attributes)) & uint128(attributes) == 0 &&
                ((misc >> 32) ^ uint32(p.miscselect)) & uint32(misc) == 0 &&
                Words.number(facts, HEAD_BYTES + 72, 2) == p.product,
            WrongEnclave()
        );
        for (uint256 pos = ENCLAVE_HEAD_BYTES; pos < facts.length; pos += ENCLAVE_LEVEL_BYTES) {
            if (Words.number(facts, pos, 2) <= p.enclaveSvn) return PlatformStatus(Words.number(facts, pos + 2, 1));
        }
        revert EnclaveTooOld(p.enclaveSvn);
    }

    /// @notice What two parts of a platform are together, by Intel's rule: an old part makes the whole old, and keeps
    /// the need for another configuration.
    function worse(PlatformStatus a, PlatformStatus b) internal pure returns (PlatformStatus) {
        if (a == b) return a;
        if (a == PlatformStatus.Revoked || b == PlatformStatus.Revoked) return PlatformStatus.Revoked;
        bool isOld = a >= PlatformStatus.OutOfDate || b >= PlatformStatus.OutOfDate;
        bool isMisconfigured = _isMisconfigured(a) || _isMisconfigured(b);
        if (isOld) return isMisconfigured ? PlatformStatus.OutOfDateConfigurationNeeded : PlatformStatus.OutOfDate;
        bool isSoft = _isSoft(a) || _isSoft(b);
        if (isMisconfigured)
            return isSoft ? PlatformStatus.ConfigurationAndSWHardeningNeeded : PlatformStatus.ConfigurationNeeded;
        return isSoft ? PlatformStatus.SWHardeningNeeded : PlatformStatus.UpToDate;
    }

    function _moduleStatus(
        bytes calldata facts,
        uint256 pos,
        uint256 end,
        uint256 version,
        uint256 svn
    ) private pure returns (PlatformStatus) {
        bool isKnown;
        for (; pos < end; pos += MODULE_LEVEL_BYTES) {
            if (Words.number(facts, pos, 1) != version) continue;
            isKnown = true;
            if (Words.number(facts, pos + 1, 1) <= svn) return PlatformStatus(Words.number(facts, pos + 2, 1));
        }
        require(isKnown, ModuleUnknown(uint8(version)));
        revert ModuleTooOld(uint8(version), uint8(svn));
    }

    function _isMisconfigured(PlatformStatus s) private pure returns (bool) {
        return
            s == PlatformStatus.ConfigurationNeeded ||
            s == PlatformStatus.ConfigurationAndSWHardeningNeeded ||
            s == PlatformStatus.OutOfDateConfigurationNeeded;
    }

    function _isSoft(PlatformStatus s) private pure returns (bool) {
        return s == PlatformStatus.SWHardeningNeeded || s == PlatformStatus.ConfigurationAndSWHardeningNeeded;
    }

    /// @dev Whether no number of 16 bits, all below 2^8, is below the other's: each difference keeps the bit above it.
    function _noneBelow(uint256 numbers, uint256 least) private pure returns (bool) {
        unchecked {
            return ((numbers | HIGH_BITS) - least) & HIGH_BITS == HIGH_BITS;
        }
    }

    /// @dev Spreads 16 bytes, a number below 2^128, over 16 numbers of 16 bits.
    function _spread(uint256 x) private pure returns (uint256) {
        x = (x | (x << 64)) & 0x0000000000000000ffffffffffffffff0000000000000000ffffffffffffffff;
        x = (x | (x << 32)) & 0x00000000ffffffff00000000ffffffff00000000ffffffff00000000ffffffff;
        x = (x | (x << 16)) & 0x0000ffff0000ffff0000ffff0000ffff0000ffff0000ffff0000ffff0000ffff;
        return (x | (x << 8)) & 0x00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff;
    }
}
