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
/// @dev The extension is a sequence of pairs (identifier, value), ordered by identifier, each pair once. DER allows one
/// encoding for a pair with a fixed-length value: the code compares all bytes of such a pair except the value.
library PckExtension {
    /// @dev `SEQUENCE {OBJECT IDENTIFIER of 10 bytes, value}` up to the value, 16 bytes.
    uint256 private constant PPID = 0x301e_060a_2a864886f84d010d01_01_0410;
    uint256 private constant PCE_ID = 0x3010_060a_2a864886f84d010d01_03_0402;
    uint256 private constant FMSPC = 0x3014_060a_2a864886f84d010d01_04_0406;
    uint256 private constant SGX_TYPE = 0x300f_060a_2a864886f84d010d01_05_0a01;
    uint256 private constant PAIR_HEAD_BYTES = 16;
    /// @dev The identifier of the version sequence, with tag and length.
    uint256 private constant TCB = 0x060a_2a864886f84d010d01_02;
    uint256 private constant TCB_BYTES = 12;
    uint256 private constant COMPONENTS = 16;
    /// @dev `SEQUENCE {OBJECT IDENTIFIER of 11 bytes, INTEGER of one byte}` of the first version, with the value 0.
    /// Adding `NEXT_VERSION` gives the next version's pair.
    uint256 private constant FIRST_VERSION = 0x3010_060b_2a864886f84d010d0102_01_0201_00;
    uint256 private constant NEXT_VERSION = 1 << 24;
    uint256 private constant VERSION_BYTES = 18;
    /// @dev The versions of all components once more, up to the value.
    uint256 private constant CPU_SVN = 0x301f_060b_2a864886f84d010d0102_12_0410;
    uint256 private constant CPU_SVN_HEAD_BYTES = 17;
    uint256 private constant CPU_SVN_BYTES = CPU_SVN_HEAD_BYTES + 16;

    /// @notice Reads the content of the extension.
    /// @dev Reverts with `MalformedDer`. Parts after the type, for example the platform's instance and configuration,
    /// are optional and not needed here.
    function parse(bytes calldata data, uint256 pos, uint256 end) internal pure returns (PckFacts memory p) {
        uint256 start;
        (start, pos) = Der.read(data, pos, end, Der.SEQUENCE);
        require(pos == end, Der.MalformedDer(start));
        uint256 value;
        (value, pos) = _pair(data, start, end, PPID, 16);
        p.ppid = bytes16(uint128(value));
        pos = _tcb(data, pos, end, p);
        (value, pos) = _pair(data, pos, end, PCE_ID, 2);
        p.pceId = bytes2(uint16(value));
        (value, pos) = _pair(data, pos, end, FMSPC, 6);
        p.fmspc = bytes6(uint48(value));
        _pair(data, pos, end, SGX_TYPE, 1);
    }

    function _tcb(
        bytes calldata data,
        uint256 pos,
        uint256 end,
        PckFacts memory p
    ) private pure returns (uint256 stop) {
        (pos, stop) = Der.read(data, pos, end, Der.SEQUENCE);
        require(Words.number(data, pos, TCB_BYTES) == TCB, Der.MalformedDer(pos));
        (pos, end) = Der.read(data, pos + TCB_BYTES, stop, Der.SEQUENCE);
        require(end == stop, Der.MalformedDer(pos));
        uint256 value;
        uint256 svns;
        uint256 head = FIRST_VERSION;
        for (uint256 k = 0; k < COMPONENTS; ++k) {
            unchecked {
                // Most versions are below 2^7: their pairs are alike but for it.
                value = Words.number(data, pos, VERSION_BYTES) ^ head;
                if (value < 0x80 && pos + VERSION_BYTES <= end) {
                    pos += VERSION_BYTES;
                } else {
                    (value, pos) = _version(data, pos, end, head);
                    require(value < 0x100, Der.MalformedDer(pos));
                }
                svns = (svns << 8) | value;
                head += NEXT_VERSION;
            }
        }
        p.svns = bytes16(uint128(svns));
        (value, pos) = _version(data, pos, end, head);
        require(value < 0x10000, Der.MalformedDer(pos));
        p.pceSvn = uint16(value);
        require(
            Words.number(data, pos, CPU_SVN_HEAD_BYTES) == CPU_SVN && pos + CPU_SVN_BYTES == end,
            Der.MalformedDer(pos)
        );
    }

    /// @dev A version of any size. @param head The pair, if the value were 0.
    function _version(
        bytes calldata data,
        uint256 pos,
        uint256 end,
        uint256 head
    ) private pure returns (uint256 value, uint256 stop) {
        (pos, stop) = Der.read(data, pos, end, Der.SEQUENCE);
        uint256 oid;
        (oid, pos) = Der.readOid(data, pos, stop);
        require(oid == uint88(head >> 24), Der.MalformedDer(pos));
        (value, pos) = Der.readUint(data, pos, stop);
        require(pos == stop, Der.MalformedDer(pos));
    }

    /// @dev Reads the value of a pair, at most 16 bytes.
    /// @param head The pair's bytes before the value.
    function _pair(
        bytes calldata data,
        uint256 pos,
        uint256 end,
        uint256 head,
        uint256 length
    ) private pure returns (uint256 value, uint256 stop) {
        unchecked {
            uint256 pair = Words.load(data, pos);
            stop = pos + PAIR_HEAD_BYTES + length;
            require(pair >> 128 == head && stop <= end, Der.MalformedDer(pos));
            value = uint128(pair) >> (128 - 8 * length);
        }
    }
}
