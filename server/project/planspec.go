package project

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/protocol/bxml"
	"github.com/starling-grid/starling/server/match"
)

// renamed are keys that plan_class_spec.xml has had under other names.
var renamed = map[string]string{"min_cuda_compcap": "min_nvidia_compcap", "max_cuda_compcap": "max_nvidia_compcap"}

// unsupported are the keys that BOINC's server supports and this one does not. A class with one of
// them is not used on any computer, since it would be wrong to ignore its requirement.
//
// Source: BOINC sched/plan_class_spec.cpp, PLAN_CLASS_SPEC::parse.
var unsupported = []string{
	"min_boinc_wsl_distro_version", "wsl",
}

// addPlanSpec reads the plan_class_spec.xml that server.toml names, if it names one, and
// adds its classes.
func (c *Config) addPlanSpec(dir string) error {
	if c.PlanClassSpec == "" {
		return nil
	}
	name := Within(dir, c.PlanClassSpec)
	text, err := os.ReadFile(name)
	if err != nil {
		return fmt.Errorf("plan_class_spec: %w", err)
	}
	classes, err := ParsePlanSpec(text)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	var errs []error
	all := make(map[string]match.PlanClass)
	maps.Copy(all, c.PlanClasses)
	for _, class := range slices.Sorted(maps.Keys(classes)) {
		if _, twice := all[class]; twice {
			errs = append(errs, fmt.Errorf("%s: plan class %s is defined in server.toml too", name, class))
		}
		all[class] = classes[class]
	}
	c.PlanClasses = all
	return errors.Join(errs...)
}

// ParsePlanSpec parses a plan_class_spec.xml like BOINC's server. The error lists all the mistakes
// in its classes: unknown keys and invalid values. Keys that only BOINC's server supports are put
// into a class's Unsupported.
func ParsePlanSpec(text []byte) (map[string]match.PlanClass, error) {
	s := bxml.NewScanner(text)
	if err := s.Find("plan_classes"); err != nil {
		return nil, err
	}
	classes := make(map[string]match.PlanClass)
	var errs []error
	n := 0
	for name := range s.Children() {
		if name != "plan_class" {
			errs = append(errs, fmt.Errorf("<%.64s> is not a plan class", name))
			continue
		}
		n++
		class, c, bad := scanPlanClass(s)
		called := "plan class " + class
		if class == "" || !ValidPlanClass(class) {
			called = fmt.Sprintf("plan class number %d", n)
			bad = append(bad, fmt.Errorf("name %.80q: want letters, digits, '_', '-' and '.'", class))
		} else if _, twice := classes[class]; twice {
			bad = append(bad, errors.New("is defined twice"))
		}
		for _, e := range c.Check() {
			bad = append(bad, fmt.Errorf("%s: %s", e.Key, e.Text))
		}
		for _, err := range bad {
			errs = append(errs, fmt.Errorf("%s: %w", called, err))
		}
		classes[class] = c
	}
	if err := s.Err(); err != nil {
		errs = append(errs, err)
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return classes, nil
}

// scanPlanClass reads the current element.
func scanPlanClass(s *bxml.Scanner) (class string, c match.PlanClass, errs []error) {
	fields := planFields(reflect.ValueOf(&c).Elem())
	for key := range s.Children() {
		if now, old := renamed[key]; old {
			key = now
		}
		f, known := fields[key]
		switch {
		case key == "name":
			class = s.Text()
		case known:
			if err := setField(f, s); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", key, err))
			}
		case slices.Contains(unsupported, key):
			c.Unsupported = append(c.Unsupported, key)
		default:
			errs = append(errs, fmt.Errorf("%.64s: unknown key", key))
		}
	}
	return class, c, errs
}

// planFields are the fields of a plan class by their keys.
func planFields(v reflect.Value) map[string]reflect.Value {
	fields := make(map[string]reflect.Value)
	for f := range v.Type().Fields() {
		if f.Anonymous {
			maps.Copy(fields, planFields(v.FieldByIndex(f.Index)))
		} else if key := f.Tag.Get("toml"); key != "-" {
			fields[key] = v.FieldByIndex(f.Index)
		}
	}
	return fields
}

func setField(f reflect.Value, s *bxml.Scanner) error {
	switch f.Kind() {
	case reflect.Pointer: // the only ones are regular expressions
		r, err := regexp.Compile(s.Text())
		if err == nil {
			f.Set(reflect.ValueOf(r))
		}
		return err
	case reflect.Bool:
		f.SetBool(s.Flag())
		return nil
	case reflect.String:
		f.SetString(s.Text())
		return nil
	case reflect.Slice:
		one := reflect.New(f.Type().Elem()).Elem()
		err := setField(one, s)
		f.Set(reflect.Append(f, one))
		return err
	}
	text := s.Text()
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return fmt.Errorf("%.80q is not a number", strings.ToValidUTF8(text, "?"))
	}
	if f.CanInt() {
		if n != float64(int64(n)) {
			return fmt.Errorf("%v is not a whole number", words.Float(n))
		}
		f.SetInt(int64(n))
		return nil
	}
	f.SetFloat(n)
	return nil
}
