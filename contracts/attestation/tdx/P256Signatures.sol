// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Der} from "./Der.sol";

/// @title P-256 signatures by the precompile of EIP-7951.
/// @dev Both values of s are accepted: Intel's signers do not normalise s, and nothing here relies on unique
/// signatures.
library P256Signatures {
    address private constant PRECOMPILE = address(0x100);

    /// @notice Returns whether a signature matches a digest. Returns false if the key is no point on the curve.
    function isSigned(bytes32 digest, bytes32 r, bytes32 s, bytes32 x, bytes32 y) internal view returns (bool valid) {
        address precompile = PRECOMPILE;
        assembly ("memory-safe") {
            // Five words beyond the memory in use, and the answer in the scratch space.
            let input := mload(0x40)
            mstore(input, digest)
            mstore(add(input, 0x20), r)
            mstore(add(input, 0x40), s)
            mstore(add(input, 0x60), x)
            mstore(add(input, 0x80), y)
            mstore(0x00, 0)
            // SAFETY: the answer is empty where the signature does not hold, and the call succeeds all the same.
            let ok := staticcall(gas(), precompile, input, 0xa0, 0x00, 0x20)
            valid := and(and(ok, eq(returndatasize(), 0x20)), eq(mload(0x00), 1))
        }
    }

    /// @notice Reads the BIT STRING of a certificate's signature: `SEQUENCE {r INTEGER, s INTEGER}`.
    /// @return r The signature's.
    /// @return s The signature's.
    /// @return stop Where the value stops.
    function read(
        bytes calldata data,
        uint256 pos,
        uint256 end
    ) internal pure returns (bytes32 r, bytes32 s, uint256 stop) {
        uint256 start;
        (start, stop) = Der.read(data, pos, end, Der.BIT_STRING);
        // No bits are left over in the last byte.
        require(stop > start && data[start] == 0, Der.MalformedDer(pos));
        (uint256 first, uint256 last) = Der.read(data, start + 1, stop, Der.SEQUENCE);
        require(last == stop, Der.MalformedDer(pos));
        uint256 value;
        (value, first) = Der.readUint(data, first, last);
        r = bytes32(value);
        (value, first) = Der.readUint(data, first, last);
        s = bytes32(value);
        require(first == last, Der.MalformedDer(pos));
    }
}
