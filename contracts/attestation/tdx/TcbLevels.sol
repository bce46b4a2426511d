// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {PlatformStatus} from "../../interfaces/IQuoteVerifier.sol";
import {Platforms} from "./Platforms.sol";
import {Words} from "./Words.sol";

/// @title Reads the stored facts of Intel's documents, which have fixed positions. The chain stores their hash. Callers
/// compare the hash before reading, and therefore the facts are complete.
/// @dev Facts of TCB info: number (4 bytes), authority (1), next update (5), count of module levels (1); module levels
/// of version (1), security version (1), status (1); then levels of SGX components (16), TDX components (16), PCE
/// version (2), status (1). Facts of an enclave's identity: number (4), authority (1), next update (5), mrsigner (32),
/// attributes (16), their mask (16), miscselect (4), its mask (4), product (2); then levels of security version (2),
/// status (1).
library TcbLevels {
    uint256 private constant HEAD_BYTES = 10;
    uint256 private constant MODULE_LEVEL_BYTES = 3;
    uint256 private constant LEVEL_BYTES = 35;
    /// @dev In a word of the 16 SGX components and the 16 TDX components.
    uint256 private constant FIRST_TWO_TDX = 0xffff << 112;
    uint256 private constant ENCLAVE_HEAD_BYTES = HEAD_BYTES + 74;
    uint256 private constant ENCLAVE_LEVEL_BYTES = 3;
    /// @dev `BYTES` selects every other byte of a word: the low bytes of 16 numbers with 16 bits each. `ABOVE` selects
    /// the bit above each such byte.
    uint256 private constant BYTES = 0x00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff;
    uint256 private constant ABOVE = 0x0100010001000100010001000100010001000100010001000100010001000100;

    error NoTcbLevel();
    error ModuleUnknown(uint8 version);
    error ModuleTooOld(uint8 version, uint8 svn);
    error EnclaveTooOld(uint16 svn);
    error WrongEnclave();

    /// @notice Reads the head of facts, for both kinds. Facts that are too short give an arbitrary result: no document
    /// has their hash.
    function head(bytes calldata facts) internal pure returns (uint32 number, uint8 authority, uint256 nextUpdate) {
        uint256 word = Words.load(facts, 0);
        return (uint32(word >> 224), uint8(word >> 216), uint40(word >> 176));
    }

    /// @notice Who signs the quoting enclave. @param facts Of its identity.
    function mrsigner(bytes calldata facts) internal pure returns (uint256) {
        return Words.load(facts, HEAD_BYTES);
    }

    /// @notice Returns the worse status of a platform's components and its module. The status comes from Intel's first
    /// level that does not exceed any component.
    /// @dev Reverts with `ModuleUnknown`, `ModuleTooOld` or `NoTcbLevel`.
    /// @param facts Facts of TCB info.
    /// @param svns From the platform's certificate.
    /// @param pceSvn From the platform's certificate.
    /// @param tdxSvns The TDX components in the trust domain's report.
    function statusOf(
        bytes calldata facts,
        bytes16 svns,
        uint256 pceSvn,
        bytes16 tdxSvns
    ) internal pure returns (PlatformStatus status) {
        unchecked {
            uint256 version = uint8(tdxSvns[1]);
            uint256 pos = HEAD_BYTES + 1;
            uint256 levels = pos + Words.number(facts, HEAD_BYTES, 1) * MODULE_LEVEL_BYTES;
            uint256 given = (uint256(uint128(svns)) << 128) | uint128(tdxSvns);
            if (version != 0) {
                status = _moduleStatus(facts, pos, levels, version, uint8(tdxSvns[0]));
                // The module's own identity speaks for the first two components.
                given |= FIRST_TWO_TDX;
            }
            (uint256 odd, uint256 even) = (((given >> 8) & BYTES) | ABOVE, (given & BYTES) | ABOVE);
            for (pos = levels; pos < facts.length; pos += LEVEL_BYTES) {
                uint256 least = Words.load(facts, pos);
                // No byte is below the other's: each difference keeps the bit above it.
                uint256 kept = (odd - ((least >> 8) & BYTES)) & (even - (least & BYTES));
                if (kept & ABOVE != ABOVE) continue;
                uint256 rest = Words.load(facts, pos + 32);
                if (rest >> 240 <= pceSvn) return worse(PlatformStatus((rest >> 232) & 0xff), status);
            }
        }
        revert NoTcbLevel();
    }

    /// @notice Returns the status of a platform's quoting enclave, whose identity must match Intel's.
    /// @dev Reverts with `WrongEnclave` or `EnclaveTooOld`.
    /// @param facts Facts of the enclave's identity.
    /// @param p The platform's facts.
    function enclaveStatus(bytes calldata facts, bytes memory p) internal pure returns (PlatformStatus) {
        unchecked {
            // Attributes and their mask, then miscselect, its mask and the product.
            uint256 attributes = Words.load(facts, HEAD_BYTES + 32);
            uint256 rest = Words.load(facts, HEAD_BYTES + 64);
            uint256 enclave = Platforms.enclave(p);
            require(
                mrsigner(facts) == Platforms.mrsigner(p) &&
                    ((attributes ^ enclave) >> 128) & attributes & type(uint128).max == 0 &&
                    uint32((rest >> 224) ^ (enclave >> 96)) & (rest >> 192) == 0 &&
                    uint16(rest >> 176) == uint16(enclave >> 80),
                WrongEnclave()
            );
            uint256 svn = uint16(enclave >> 64);
            for (uint256 pos = ENCLAVE_HEAD_BYTES; pos < facts.length; pos += ENCLAVE_LEVEL_BYTES) {
                uint256 level = Words.number(facts, pos, ENCLAVE_LEVEL_BYTES);
                if (level >> 8 <= svn) return PlatformStatus(uint8(level));
            }
            revert EnclaveTooOld(uint16(svn));
        }
    }

    /// @notice Combines the statuses of two parts of a platform by Intel's rule: an old part makes the whole old, and
    /// keeps the need for another configuration.
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
        while (pos < end) {
            uint256 level = Words.number(facts, pos, MODULE_LEVEL_BYTES);
            unchecked {
                pos += MODULE_LEVEL_BYTES;
            }
            if (level >> 16 != version) continue;
            isKnown = true;
            if (uint8(level >> 8) <= svn) return PlatformStatus(uint8(level));
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
}
