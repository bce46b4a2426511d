// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/* solhint-disable quotes, gas-small-strings */

import {PlatformStatus} from "../../interfaces/IQuoteVerifier.sol";
import {EnclaveIdentity, SvnLevel, TcbInfo, TcbLevel, TdxModule} from "../../interfaces/ITdxQuoteVerifier.sol";
import {Words} from "./Words.sol";

/// @dev A text under construction, in memory of a fixed size.
struct Writer {
    bytes text;
    uint256 length;
}

/// @title Rebuilds the JSON text of Intel's documents from their values, byte for byte. Nothing is parsed: a signature
/// holds only for the exact text that Intel signed.
/// @dev SAFETY: a document's text alone must determine its values. All values have fixed widths or end at a quote, a
/// comma or a brace. The free parts begin with a comma and contain no brace, and therefore none reaches into another
/// value. A letter in lower case is a hexadecimal digit of the same value, or the text is none of Intel's.
library DocumentText {
    /// @dev Intel's have some 3,000 bytes.
    uint256 private constant CAPACITY = 32_000;
    /// @dev 32 times the byte 1, the highest bit, and a brace of each kind.
    uint256 private constant ONES = 0x0101010101010101010101010101010101010101010101010101010101010101;
    uint256 private constant HIGH_BITS = ONES << 7;
    uint256 private constant OPEN_BRACES = ONES * 0x7b;
    uint256 private constant CLOSE_BRACES = ONES * 0x7d;
    bytes private constant ZERO_48 =
        "000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000";

    error DocumentTooLong();
    error WrongFreePart();
    error WrongLetter(uint256 place);

    /// @notice The SHA-256 of a TCB info's JSON.
    /// @dev Modules are Intel's own: their signer and attributes are zero. Reverts with `DocumentTooLong`,
    /// `WrongFreePart` or `WrongLetter`.
    function digest(TcbInfo calldata info) internal pure returns (bytes32) {
        Writer memory w = _writer();
        _put(w, '{"id":"TDX","version":3,"issueDate":"');
        _putDates(w, info.issueDate, info.nextUpdate);
        _put(w, '","fmspc":"');
        _putHex(w, info.fmspc, 6);
        _put(w, '","pceId":"');
        _putHex(w, info.pceId, 2);
        _put(w, '","tcbType":');
        _putNumber(w, info.tcbType);
        _put(w, ',"tcbEvaluationDataNumber":');
        _putNumber(w, info.number);
        _put(w, ',"tdxModule":{');
        _putModuleSigner(w);
        _put(w, '},"tdxModuleIdentities":[');
        for (uint256 k = 0; k < info.modules.length; ++k) {
            TdxModule calldata module = info.modules[k];
            _put(w, k == 0 ? bytes('{"id":"TDX_') : bytes(',{"id":"TDX_'));
            _putHex(w, bytes1(module.version), 1);
            _put(w, '",');
            _putModuleSigner(w);
            _put(w, ",");
            _putSvnLevels(w, module.levels);
            _put(w, "}");
        }
        _put(w, '],"tcbLevels":[');
        for (uint256 k = 0; k < 32; ++k) _requireFreePart(bytes(info.labels[k]));
        for (uint256 k = 0; k < info.levels.length; ++k) {
            TcbLevel calldata level = info.levels[k];
            _put(w, k == 0 ? bytes('{"tcb":{"sgxtcbcomponents":[') : bytes(',{"tcb":{"sgxtcbcomponents":['));
            _putComponents(w, level.svns, info.labels, 0);
            _put(w, '],"pcesvn":');
            _putNumber(w, level.pceSvn);
            _put(w, ',"tdxtcbcomponents":[');
            _putComponents(w, level.tdxSvns, info.labels, 16);
            _put(w, "]");
            _putEnd(w, level.date, level.status, bytes(level.rest));
        }
        _put(w, "]}");
        return _digest(w, info.lowerCase);
    }

    /// @notice The SHA-256 of an enclave identity's JSON.
    /// @dev Reverts with `DocumentTooLong`, `WrongFreePart` or `WrongLetter`.
    function digest(EnclaveIdentity calldata identity) internal pure returns (bytes32) {
        Writer memory w = _writer();
        _put(w, '{"id":"TD_QE","version":2,"issueDate":"');
        _putDates(w, identity.issueDate, identity.nextUpdate);
        _put(w, '","tcbEvaluationDataNumber":');
        _putNumber(w, identity.number);
        _put(w, ',"miscselect":"');
        _putHex(w, identity.miscselect, 4);
        _put(w, '","miscselectMask":"');
        _putHex(w, identity.miscselectMask, 4);
        _put(w, '","attributes":"');
        _putHex(w, identity.attributes, 16);
        _put(w, '","attributesMask":"');
        _putHex(w, identity.attributesMask, 16);
        _put(w, '","mrsigner":"');
        _putHex(w, identity.mrsigner, 32);
        _put(w, '","isvprodid":');
        _putNumber(w, identity.product);
        _put(w, ",");
        _putSvnLevels(w, identity.levels);
        _put(w, "}");
        return _digest(w, identity.lowerCase);
    }

    function _putDates(Writer memory w, bytes20 issueDate, bytes20 nextUpdate) private pure {
        _put(w, abi.encodePacked(issueDate, '","nextUpdate":"', nextUpdate));
    }

    function _putModuleSigner(Writer memory w) private pure {
        _put(w, '"mrsigner":"');
        _put(w, ZERO_48);
        _put(w, '","attributes":"0000000000000000","attributesMask":"FFFFFFFFFFFFFFFF"');
    }

    function _putSvnLevels(Writer memory w, SvnLevel[] calldata levels) private pure {
        _put(w, '"tcbLevels":[');
        for (uint256 k = 0; k < levels.length; ++k) {
            SvnLevel calldata level = levels[k];
            _put(w, k == 0 ? bytes('{"tcb":{"isvsvn":') : bytes(',{"tcb":{"isvsvn":'));
            _putNumber(w, level.svn);
            _putEnd(w, level.date, level.status, bytes(level.rest));
        }
        _put(w, "]");
    }

    function _putComponents(Writer memory w, bytes16 svns, string[32] calldata labels, uint256 first) private pure {
        bytes memory next = '},{"svn":';
        _put(w, '{"svn":');
        for (uint256 k = 0; k < 16; ++k) {
            if (k != 0) _put(w, next);
            _putNumber(w, uint8(svns[k]));
            bytes calldata label = bytes(labels[first + k]);
            if (label.length != 0) _put(w, label);
        }
        _put(w, "}");
    }

    /// @dev What each level ends with.
    function _putEnd(Writer memory w, bytes20 date, PlatformStatus status, bytes calldata rest) private pure {
        _requireFreePart(rest);
        _put(w, abi.encodePacked('},"tcbDate":"', date, '","tcbStatus":"', _statusText(status), '"'));
        _put(w, rest);
        _put(w, "}");
    }

    function _statusText(PlatformStatus status) private pure returns (bytes memory) {
        if (status == PlatformStatus.UpToDate) return "UpToDate";
        if (status == PlatformStatus.SWHardeningNeeded) return "SWHardeningNeeded";
        if (status == PlatformStatus.ConfigurationNeeded) return "ConfigurationNeeded";
        if (status == PlatformStatus.ConfigurationAndSWHardeningNeeded) return "ConfigurationAndSWHardeningNeeded";
        if (status == PlatformStatus.OutOfDate) return "OutOfDate";
        if (status == PlatformStatus.OutOfDateConfigurationNeeded) return "OutOfDateConfigurationNeeded";
        return "Revoked";
    }

    function _requireFreePart(bytes calldata part) private pure {
        if (part.length == 0) return;
        require(part[0] == ",", WrongFreePart());
        uint256 length = part.length;
        for (uint256 k = 0; k < length; k += 32) {
            uint256 word = Words.load(part, k);
            // Bytes beyond the part become zeros.
            if (length - k < 32) word >>= 256 - 8 * (length - k);
            require(!_hasZero(word ^ OPEN_BRACES) && !_hasZero(word ^ CLOSE_BRACES), WrongFreePart());
        }
    }

    /// @dev Returns whether any byte of a word is zero. The subtraction sets the high bit of a byte below 2^7 only if
    /// this or a lower byte equals zero.
    function _hasZero(uint256 word) private pure returns (bool) {
        unchecked {
            return (word - ONES) & ~word & HIGH_BITS != 0;
        }
    }

    function _writer() private pure returns (Writer memory) {
        return Writer(new bytes(CAPACITY), 0);
    }

    function _put(Writer memory w, bytes memory part) private pure {
        uint256 length = w.length;
        uint256 end = length + part.length;
        require(end <= CAPACITY, DocumentTooLong());
        bytes memory text = w.text;
        assembly ("memory-safe") {
            mcopy(add(add(text, 0x20), length), add(part, 0x20), mload(part))
        }
        w.length = end;
    }

    /// @dev Without leading zeros; below 10^10.
    function _putNumber(Writer memory w, uint256 value) private pure {
        uint256 digits = 1;
        for (uint256 least = 10; value >= least; least *= 10) ++digits;
        uint256 length = w.length + digits;
        require(length <= CAPACITY, DocumentTooLong());
        bytes memory text = w.text;
        w.length = length;
        unchecked {
            for (; digits != 0; --digits) {
                uint256 digit = 48 + (value % 10);
                --length;
                assembly ("memory-safe") {
                    mstore8(add(add(text, 0x20), length), digit)
                }
                value /= 10;
            }
        }
    }

    /// @dev The first bytes of a word, in upper case.
    function _putHex(Writer memory w, bytes32 value, uint256 count) private pure {
        uint256 length = w.length;
        require(length + 2 * count <= CAPACITY, DocumentTooLong());
        bytes memory text = w.text;
        for (uint256 k = 0; k < 2 * count; ++k) {
            uint256 nibble = uint256(value) >> 252;
            value <<= 4;
            text[length + k] = bytes1(uint8(nibble < 10 ? 48 + nibble : 55 + nibble));
        }
        w.length = length + 2 * count;
    }

    /// @param lowerCase The places of hexadecimal digits that Intel wrote in lower case.
    function _digest(Writer memory w, uint16[] calldata lowerCase) private pure returns (bytes32) {
        bytes memory text = w.text;
        uint256 length = w.length;
        assembly ("memory-safe") {
            mstore(text, length)
        }
        for (uint256 k = 0; k < lowerCase.length; ++k) {
            uint256 place = lowerCase[k];
            require(place < length && text[place] >= "A" && text[place] <= "F", WrongLetter(place));
            text[place] |= 0x20;
        }
        return sha256(text);
    }
}
