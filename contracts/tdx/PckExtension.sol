// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Der} from "./Der.sol";
import {Words} from "./Words.sol";

/// @dev What a platform's certificate says of it.
/// @param ppid The platform's identifier.
/// @param svns The security versions of its 16 components.
struct PckFacts {
    bytes16 ppid;
    bytes16 svns;
    uint16 pceSvn;
    bytes2 pceId;
    bytes6 fmspc;
}

/// @title Intel's extension of platform certificates: 1.2.840.113741.1.13.1.
/// @dev Its parts are a sequence of pairs of an identifier and a value, in the order of the identifiers, each once.
library PckExtension {
    /// @dev 1.2.840.113741.1.13.1, below which all identifiers are.
    uint256 private constant ROOT = 0x2a864886f84d010d01;
    uint256 private constant PPID = (ROOT << 8) | 1;
    uint256 private constant TCB = (ROOT << 8) | 2;
    uint256 private constant PCE_ID = (ROOT << 8) | 3;
    uint256 private constant FMSPC = (ROOT << 8) | 4;
    uint256 private constant SGX_TYPE = (ROOT << 8) | 5;
    uint256 private constant COMPONENTS = 16;
    uint256 private constant PCE_SVN = 17;
    uint256 private constant CPU_SVN = 18;
    /// @dev `SEQUENCE {OBJECT IDENTIFIER of 11 bytes, INTEGER of one byte}`: 30 10 06 0b, 11 bytes, 02 01, and the
    /// byte.
    uint256 private constant SMALL_PAIR = (0x3010060b << 104) | 0x0201;
    uint256 private constant SMALL_PAIR_BYTES = 18;

    /// @notice Reads the content of the extension.
    /// @dev Reverts with `MalformedDer`. What comes after the type, such as the platform's instance and its
    /// configuration, is optional, and nothing here needs it.
    function parse(bytes calldata data, uint256 pos, uint256 end) internal pure returns (PckFacts memory p) {
        uint256 start;
        (start, pos) = Der.read(data, pos, end, Der.SEQUENCE);
        require(pos == end, Der.MalformedDer(start));
        pos = start;
        uint256 value;
        (value, pos) = _octets(data, pos, end, PPID, 16);
        p.ppid = bytes16(uint128(value));
        pos = _tcb(data, pos, end, p);
        (value, pos) = _octets(data, pos, end, PCE_ID, 2);
        p.pceId = bytes2(uint16(value));
        (value, pos) = _octets(data, pos, end, FMSPC, 6);
        p.fmspc = bytes6(uint48(value));
        uint256 stop;
        (start, stop) = _pair(data, pos, end, SGX_TYPE);
        (start, pos) = Der.read(data, start, stop, Der.ENUMERATED);
        require(pos == stop, Der.MalformedDer(start));
    }

    function _tcb(
        bytes calldata data,
        uint256 pos,
        uint256 end,
        PckFacts memory p
    ) private pure returns (uint256 stop) {
        (pos, stop) = _pair(data, pos, end, TCB);
        (pos, end) = Der.read(data, pos, stop, Der.SEQUENCE);
        require(end == stop, Der.MalformedDer(pos));
        uint256 value;
        uint256 svns;
        for (uint256 k = 1; k <= COMPONENTS; ++k) {
            (value, pos) = _version(data, pos, end, (TCB << 8) | k);
            require(value < 0x100, Der.MalformedDer(pos));
            svns = (svns << 8) | value;
        }
        p.svns = bytes16(uint128(svns));
        (value, pos) = _version(data, pos, end, (TCB << 8) | PCE_SVN);
        require(value < 0x10000, Der.MalformedDer(pos));
        p.pceSvn = uint16(value);
        (, pos) = _octets(data, pos, end, (TCB << 8) | CPU_SVN, 16);
        require(pos == end, Der.MalformedDer(pos));
    }

    /// @dev Most versions are below 2^7. Their pairs are alike but for the last bytes, and so are read at once.
    function _version(
        bytes calldata data,
        uint256 pos,
        uint256 end,
        uint256 oid
    ) private pure returns (uint256 value, uint256 stop) {
        unchecked {
            uint256 pair = Words.load(data, pos) >> (256 - 8 * SMALL_PAIR_BYTES);
            if (pair >> 8 == SMALL_PAIR | (oid << 16) && pair & 0x80 == 0 && pos + SMALL_PAIR_BYTES <= end)
                return (pair & 0xff, pos + SMALL_PAIR_BYTES);
        }
        (pos, stop) = _pair(data, pos, end, oid);
        (value, pos) = Der.readUint(data, pos, stop);
        require(pos == stop, Der.MalformedDer(pos));
    }

    function _octets(
        bytes calldata data,
        uint256 pos,
        uint256 end,
        uint256 oid,
        uint256 length
    ) private pure returns (uint256 value, uint256 stop) {
        uint256 start;
        (start, stop) = _pair(data, pos, end, oid);
        (value, pos) = Der.readOctets(data, start, stop, length);
        require(pos == stop, Der.MalformedDer(start));
    }

    /// @dev A pair that must have an identifier. @return start Where its value is.
    function _pair(
        bytes calldata data,
        uint256 pos,
        uint256 end,
        uint256 oid
    ) private pure returns (uint256 start, uint256 stop) {
        (start, stop) = Der.read(data, pos, end, Der.SEQUENCE);
        uint256 given;
        (given, start) = Der.readOid(data, start, stop);
        require(given == oid, Der.MalformedDer(pos));
    }
}
