// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {BodyReader} from "../verifier/BodyReader.sol";
import {ChunkOpening} from "../interfaces/IStepVerifier.sol";
import {Tensor, Tensors} from "../verifier/Tensor.sol";
import {TensorRef} from "../verifier/TensorRefs.sol";
import {VIEW_FILL, View, ViewDecoder} from "../verifier/ViewDecoder.sol";
import {Views} from "../verifier/Views.sol";

/// @title Opens the libraries that decode and place views to tests.
contract ViewHarness {
    /// @notice A list of views in a body, with the element types and counts of the inputs.
    struct List {
        bytes body;
        uint8[] types;
        uint64[] counts;
    }

    /// @notice Where a list ends, the number of its views, and of each the input, the axes, and where these begin.
    /// Positions count from the body's first byte.
    function read(List calldata list, uint256 digits) external pure returns (uint256[] memory words) {
        uint256 start = BodyReader.start(list.body);
        (View[] memory views, uint256 end) = ViewDecoder.read(_inputs(list), start, digits);
        words = new uint256[](2 + 3 * views.length);
        (words[0], words[1]) = (end - start, views.length);
        for (uint256 k = 0; k < views.length; ++k) {
            View memory v = views[k];
            (words[2 + 3 * k], words[3 + 3 * k], words[4 + 3 * k]) = (v.input, v.axisCount, v.axes - start);
        }
    }

    /// @notice Places all views; the number of terms that all hold; of each view the pointer, the step and the terms
    /// left; then the same pointers and terms at the last of these terms.
    function place(
        List calldata list,
        uint256[] memory digits,
        uint256 along,
        uint256 terms,
        bytes32[] calldata roots,
        ChunkOpening[] calldata openings
    ) external view returns (uint256[] memory words) {
        TensorRef[] memory inputs = _inputs(list);
        (View[] memory views, ) = ViewDecoder.read(inputs, BodyReader.start(list.body), digits.length);
        Tensor[] memory tensors = new Tensor[](inputs.length);
        for (uint256 k = 0; k < inputs.length; ++k)
            tensors[k] = Tensors.open(k, roots[k], inputs[k].dtype, inputs[k].count, openings[k]);
        words = new uint256[](1 + 5 * views.length);
        words[0] = Views.placeAll(views, tensors, digits, along, terms);
        for (uint256 k = 0; k < views.length; ++k) {
            View memory v = views[k];
            (words[1 + 3 * k], words[2 + 3 * k], words[3 + 3 * k]) = (_pointer(v, tensors), v.step, v.left);
        }
        Views.advanceAll(views, words[0] - 1);
        for (uint256 k = 0; k < views.length; ++k) {
            uint256 first = 1 + 3 * views.length + 2 * k;
            (words[first], words[first + 1]) = (_pointer(views[k], tensors), views[k].left);
        }
    }

    function _inputs(List calldata list) private pure returns (TensorRef[] memory inputs) {
        inputs = new TensorRef[](list.types.length);
        for (uint256 k = 0; k < inputs.length; ++k)
            (inputs[k].dtype, inputs[k].count) = (list.types[k], list.counts[k]);
    }

    /// @dev Bytes from the first opened chunk; the highest number for the fill value.
    function _pointer(View memory v, Tensor[] memory tensors) private pure returns (uint256) {
        uint256 fill;
        assembly ("memory-safe") {
            fill := add(v, VIEW_FILL)
        }
        return v.pointer == fill ? type(uint256).max : v.pointer - tensors[v.input].data;
    }
}
