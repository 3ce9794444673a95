package state_test

import (
	"reflect"
	"strconv"
	"time"
)

// filled returns a record in which every field has a different value, other than the zero value.
func filled[V any]() (v V) {
	n := 0
	setAll(reflect.ValueOf(&v).Elem(), reflect.TypeFor[V]().Name(), &n)
	return v
}

// setAll sets v, which is called name, and counts in n the values that it has set.
func setAll(v reflect.Value, name string, n *int) {
	*n++
	switch v.Kind() {
	case reflect.String:
		v.SetString(name + " " + strconv.Itoa(*n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Float64:
		v.SetFloat(float64(*n) + 0.1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			setAll(v.Index(i), name, n)
		}
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		setAll(key, name, n)
		setAll(value, name, n)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(1_800_000_000+int64(*n), 5).UTC()))
			return
		}
		for i := range v.NumField() {
			setAll(v.Field(i), v.Type().Field(i).Name, n)
		}
	default:
		panic("no value for a " + v.Kind().String())
	}
}
