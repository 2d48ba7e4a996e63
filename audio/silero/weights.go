package silero

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// The model file is an ONNX graph: one If node on the sample rate, with a sub-graph for each. Only the named constants
// in the sub-graphs are read; what is done with them is written out in net.go.

// Field numbers of onnx.proto.
const (
	modelGraph    = 7
	graphNode     = 1
	graphInit     = 5
	nodeOutput    = 2
	nodeAttribute = 5
	attrName      = 1
	attrTensor    = 5
	attrGraph     = 6
	tensorDims    = 1
	tensorFloats  = 4
	tensorName    = 8
	tensorRaw     = 9
)

var errModel = errors.New("silero: not a model this package knows")

type tensor struct {
	dims []int
	data []float32
}

// constants collects the float tensors of one branch by the last part of their names.
type constants map[string]tensor

// branches returns the constants of the graphs for 16 kHz and for everything else (8 kHz).
func branches(file []byte) (wide, narrow constants, err error) {
	wide, narrow = constants{}, constants{}
	graph, err := field(file, modelGraph)
	if err != nil {
		return nil, nil, err
	}
	err = each(graph, graphNode, func(node []byte) error {
		return each(node, nodeAttribute, func(attr []byte) error {
			name, _ := field(attr, attrName)
			sub, err := field(attr, attrGraph)
			switch {
			case err != nil:
				return nil // an attribute that is no graph
			case string(name) == "then_branch":
				return wide.collect(sub)
			case string(name) == "else_branch":
				return narrow.collect(sub)
			}
			return nil
		})
	})
	return wide, narrow, err
}

func (c constants) collect(graph []byte) error {
	err := each(graph, graphNode, func(node []byte) error {
		output, err := field(node, nodeOutput)
		if err != nil {
			return nil
		}
		return each(node, nodeAttribute, func(attr []byte) error {
			if t, err := field(attr, attrTensor); err == nil {
				return c.add(string(output), t)
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	return each(graph, graphInit, func(t []byte) error {
		name, _ := field(t, tensorName)
		return c.add(string(name), t)
	})
}

func (c constants) add(name string, b []byte) error {
	if i := strings.LastIndex(name, "__"); i >= 0 {
		name = name[i+2:]
	}
	var t tensor
	var raw []byte
	for len(b) > 0 {
		num, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return errModel
		}
		b = b[n:]
		size := protowire.ConsumeFieldValue(num, kind, b)
		if size < 0 {
			return errModel
		}
		value := b[:size]
		b = b[size:]
		switch {
		case num == tensorDims && kind == protowire.VarintType:
			v, _ := protowire.ConsumeVarint(value)
			t.dims = append(t.dims, int(v))
		case num == tensorDims && kind == protowire.BytesType:
			packed, _ := protowire.ConsumeBytes(value)
			for len(packed) > 0 {
				v, n := protowire.ConsumeVarint(packed)
				if n < 0 {
					return errModel
				}
				t.dims = append(t.dims, int(v))
				packed = packed[n:]
			}
		case (num == tensorFloats || num == tensorRaw) && kind == protowire.BytesType:
			raw, _ = protowire.ConsumeBytes(value)
		}
	}
	for ; len(raw) >= 4; raw = raw[4:] {
		t.data = append(t.data, math.Float32frombits(binary.LittleEndian.Uint32(raw)))
	}
	c[name] = t
	return nil
}

// get returns a tensor of a known size.
func (c constants) get(name string, size int) ([]float32, error) {
	t, ok := c[name]
	if !ok || len(t.data) != size {
		return nil, fmt.Errorf("%w: %s has %d values, want %d", errModel, name, len(t.data), size)
	}
	return t.data, nil
}

// field returns the first length-delimited field of that number.
func field(b []byte, want protowire.Number) ([]byte, error) {
	found := errors.New("found")
	var value []byte
	err := each(b, want, func(v []byte) error {
		value = v
		return found
	})
	if err == found {
		return value, nil
	}
	return nil, errModel
}

// each calls fn for every length-delimited field of that number.
func each(b []byte, want protowire.Number, fn func([]byte) error) error {
	for len(b) > 0 {
		num, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return errModel
		}
		b = b[n:]
		size := protowire.ConsumeFieldValue(num, kind, b)
		if size < 0 {
			return errModel
		}
		if num == want && kind == protowire.BytesType {
			v, _ := protowire.ConsumeBytes(b)
			if err := fn(v); err != nil {
				return err
			}
		}
		b = b[size:]
	}
	return nil
}
