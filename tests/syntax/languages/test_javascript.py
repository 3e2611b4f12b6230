"""Calls inside of JavaScript files: scopes, objects, classes, this, callbacks."""

import pytest
from cases import Case, check

CASES = (
    Case(
        "functions are known before they are declared; the last of a name counts",
        {
            "a.js": """
            g();
            function f() {}
            function g() { f(); h(); }
            function f() { g(); }
            const h = () => f();
            """
        },
        ("a -> a:g", "a:g -> a:f", "a:g -> a:h", "a:f -> a:g", "a:h -> a:f"),
        exact=True,
    ),
    Case(
        "closures: an inner name hides an outer one, in blocks too",
        {
            "a.js": """
            function x() {}
            function outer() {
              function x() {}
              function inner() { x(); }
              inner();
              { const x = function () {}; x(); }
            }
            x();
            """
        },
        (
            "a:outer.inner -> a:outer.x :5",
            "a:outer -> a:outer.inner :6",
            "a:outer -> a:outer.x :7",
            "a -> a:x",
        ),
        exact=True,
    ),
    Case(
        "functions that are values: reassigned, chosen, given back, called at once",
        {
            "a.js": """
            function one() {} function two() {}
            let f = one;
            f();
            f = two;
            g(); f(); function g() { two(); }
            (cond ? one : two)();
            (null || one)();
            const make = () => () => two();
            make()();
            (function iife() { one(); })();
            (() => two())();
            """
        },
        (
            "a -> a:one :4",
            "a -> a:two :6",
            "a -> a:one :7",
            "a -> a:two :7",
            "a -> a:one :8",
            "a -> a:make :10",
            "a -> a:g :6",
            "a:g -> a:two",
            "a -> a:<lambda1>",
            "a:<lambda1> -> a:two",
            "a -> a:make.<lambda1> :10",
            "a -> a:iife",
            "a:iife -> a:one",
            "a:make.<lambda1> -> a:two",
        ),
        exact=True,
    ),
    Case(
        "object literals: methods, this, nesting, computed and short names, spread",
        {
            "a.js": """
            function short() {}
            const KEY = 'keyed';
            const base = { shared() {} };
            const o = {
              short, ...base,
              plain: function () { this.method(); },
              method() { this.inner.deep(); },
              arrow: () => short(),
              [KEY]() {}, 'quoted-name'() {},
              inner: { deep() { this.other(); }, other() {} },
            };
            o.short(); o.shared(); o.plain(); o.arrow(); o.keyed(); o[KEY](); o['quoted-name']();
            """
        },
        (
            "a -> a:short",
            "a -> a:base.shared",
            "a -> a:o.plain",
            "a -> a:o.arrow",
            "a -> a:o.keyed",
            "a -> a:o.quoted-name",
            "a:o.plain -> a:o.method",
            "a:o.method -> a:o.inner.deep",
            "a:o.inner.deep -> a:o.inner.other",
            "a:o.arrow -> a:short",
        ),
        exact=True,
    ),
    Case(
        "classes: constructors, fields, static and private members, inheritance, super",
        {
            "a.js": """
            class Base {
              constructor() { this.init(); }
              init() {}
              hook() {}
              static create() { return new this(); }
            }
            class Sub extends Base {
              #secret() {}
              field = new Other();
              handler = () => { this.hook(); };
              constructor() { super(); this.#secret(); }
              hook() { super.hook(); this.field.go(); }
              static make() { return Sub.create(); }
            }
            class Other { go() {} }
            function f() { const s = new Sub(); s.hook(); s.handler(); s.init(); Sub.make(); }
            """
        },
        (
            "a:Base.constructor -> a:Base.init",
            "a:Sub.constructor -> a:Base.constructor",
            "a:Sub.constructor -> a:Sub.#secret",
            "a:Sub.hook -> a:Base.hook",
            "a:Sub.hook -> a:Other.go",
            "a:Sub.handler -> a:Sub.hook",
            "a:Sub.make -> a:Base.create",
            "a:Base.create -> a:Base.constructor",
            "a -> a:Other",
            "a:f -> a:Sub.constructor",
            "a:f -> a:Sub.hook [resolved]",
            "a:f -> a:Sub.handler",
            "a:f -> a:Base.init",
            "a:f -> a:Sub.make",
        ),
        exact=True,
    ),
    Case(
        "a method of the base dispatches to what is below",
        {
            "a.js": """
            class Base { run() { this.step(); } step() {} }
            class One extends Base { step() {} }
            class Two extends One { step() {} }
            """
        },
        (
            "a:Base.run -> a:Base.step [resolved]",
            "a:Base.run -> a:One.step [dispatch]",
            "a:Base.run -> a:Two.step [dispatch]",
        ),
        exact=True,
    ),
    Case(
        "a static member and one of the instances may share a name",
        {
            "a.js": """
            class C { static make() {} make() {} static of() { this.make(); } own() { this.make(); } }
            C.make(); new C().make();
            """
        },
        ("a -> a:C.make", "a:C.of -> a:C.make", "a:C.own -> a:C.make", "a -> a:C"),
        exact=True,
    ),
    Case(
        "getters are called by being read",
        {
            "a.js": """
            class C { get value() { return g(); } set value(v) {} use() { return this.value.run(); } }
            function g() { return { run() {} }; }
            const o = { get it() { return 1; } };
            function f() { const { it } = o; return new C().value; }
            """
        },
        (
            "a:C.value -> a:g",
            "a:C.use -> a:C.value [resolved]",
            "a:f -> a:o.it",
            "a:f -> a:C.value",
            "a:f -> a:C",
        ),
    ),
    Case(
        "functions that make instances, and their prototypes",
        {
            "a.js": """
            const util = require('util');
            function Animal(name) { this.name = name; this.speak = function () { this.walk(); }; }
            Animal.prototype.walk = function () { this.legs(); };
            Animal.prototype.legs = function () {};
            Animal.create = function () { return new Animal(); };
            function Dog() { Animal.call(this); }
            util.inherits(Dog, Animal);
            Dog.prototype.bark = function () { this.walk(); };
            function Cat() {}
            Cat.prototype = Object.create(Animal.prototype);
            Object.assign(Cat.prototype, { purr() { this.walk(); } });
            new Dog().bark(); new Cat().purr(); new Dog().speak(); Animal.create().walk();
            """
        },
        (
            "a:Animal.walk -> a:Animal.legs",
            "a:Dog -> a:Animal",
            "a:Dog.bark -> a:Animal.walk",
            "a -> a:Dog.bark",
            "a -> a:Cat.purr",
            "a:Cat.purr -> a:Animal.walk",
            "a -> a:Animal.create",
            "a -> a:Animal.walk",
            "a:Animal.create -> a:Animal",
            "a:Animal.speak -> a:Animal.walk",
        ),
    ),
    Case(
        "a prototype that is an object, and one under a shorter name",
        {
            "a.js": """
            function View() { this.render(); }
            View.prototype = { constructor: View, render: function () { this.draw(); }, draw() {} };
            function List() {}
            var p = List.prototype;
            p.add = function () { this.grow(); };
            p.grow = function () {};
            new View(); new List().add();
            """
        },
        (
            "a:View -> a:View.render",
            "a:View.render -> a:View.draw",
            "a -> a:View",
            "a -> a:List",
            "a -> a:p.add",
            "a:p.add -> a:p.grow",
        ),
        exact=True,
    ),
    Case(
        "this: of arrows, call, apply and bind, and of no one",
        {
            "a.js": """
            class C {
              run() {
                [1].forEach(() => this.one());
                const self = this;
                later(function () { self.two(); this.one(); });
                later(function () { this.three(); }.bind(this));
                C.prototype.four.call(this, 1);
              }
              one() {} two() {} three() {} four(x) {}
            }
            function later(f) { f(); }
            function free(a) { a.one(); }
            free.apply(null, [new C()]);
            const bound = free.bind(null);
            bound();
            """
        },
        (
            "a:C.run.<lambda1> -> a:C.one",
            "a:C.run.<lambda2> -> a:C.two",
            "a:C.run.<lambda3> -> a:C.three [resolved]",
            "a:C.run -> a:C.four [resolved]",
            "a -> a:free :14",
            "a -> a:free :16",
            "a:free -> a:C.one [inferred]",
        ),
        never=("a:C.run.<lambda2> -> a:C.one",),
    ),
    Case(
        "callbacks: of arrays, with their elements; of promises and timers",
        {
            "a.js": """
            class Item { run() {} ok() { return true; } }
            const items = [new Item()];
            function each(item) { item.run(); }
            function later(item) { item.run(); }
            items.forEach(each);
            items.filter(i => i.ok()).map(i => i.run());
            items.find(i => true).run();
            for (const item of items) item.ok();
            async function load() { return new Item(); }
            load().then(later);
            setTimeout(later, 10);
            """
        },
        (
            "a -> a:each [inferred]",
            "a:each -> a:Item.run [inferred]",
            "a:<lambda1> -> a:Item.ok [inferred]",
            "a:<lambda2> -> a:Item.run [inferred]",
            "a -> a:Item.run :8",
            "a -> a:Item.ok :9",
            "a -> a:later [inferred] :11",
            "a -> a:later [inferred] :12",
            "a:later -> a:Item.run [inferred]",
            "a -> <builtin>.Array.forEach [external]",
            "a -> <builtin>.Promise.then [external]",
            "a -> <builtin>.setTimeout [external]",
        ),
    ),
    Case(
        "functions that are passed on are followed",
        {
            "a.js": """
            function target() {}
            function apply(fn, ...rest) { fn(rest[0]); }
            function through(fn) { apply(fn); }
            through(target);
            function options({ done, fail = other }) { done(); fail(); }
            function other() {}
            options({ done: target });
            function variadic() { arguments[0](); }
            variadic(other);
            """
        },
        (
            "a:apply -> a:target [inferred]",
            "a:options -> a:target [inferred]",
            "a:options -> a:other",
            "a:variadic -> a:other [inferred]",
        ),
    ),
    Case(
        "an array's method is not a function of the repository",
        {
            "a.js": """
            function push() {} function map() {} function get() {} function then() {}
            class Store { get() {} push() {} }
            const list = [], text = 'a', m = new Map();
            list.push(1); text.split(',').map(x => x); m.get(1); fetch('u').then(x => x);
            """
        },
        (
            "a -> <builtin>.Array.push [external]",
            "a -> <builtin>.Array.map [external]",
            "a -> <builtin>.Map.get [external]",
            "a -> <builtin>.String.split [external]",
        ),
        never=("* -> a:push", "* -> a:map", "* -> a:get", "* -> a:Store.get", "* -> a:then"),
    ),
    Case(
        "destructuring of objects, arrays and parameters",
        {
            "a.js": """
            const o = { f() {}, in: { g() {} }, h() {} };
            const { f, in: { g }, ...others } = o;
            const [first, , third = o.h] = [f, 1];
            let moved; ({ f: moved } = o);
            f(); g(); first(); third(); moved(); others.h();
            """
        },
        ("a -> a:o.f", "a -> a:o.in.g", "a -> a:o.h"),
        exact=True,
    ),
    Case(
        "async functions, generators, tagged templates, optional calls",
        {
            "a.js": """
            class Row { use() {} }
            async function one() { return new Row(); }
            function* many() { yield new Row(); }
            function tag(parts, value) {}
            async function run(o) {
              (await one()).use();
              for (const row of many()) row.use();
              const [x] = await Promise.all([one()]); x.use();
              tag`a${one()}b`;
              const v = o?.missing?.(); one?.();
            }
            """
        },
        (
            "a:run -> a:one",
            "a:run -> a:Row.use [resolved] :7",
            "a:run -> a:Row.use [resolved] :8",
            "a:run -> a:Row.use [resolved] :9",
            "a:run -> a:many",
            "a:run -> a:tag",
        ),
    ),
    Case(
        "collections hold what is put into them",
        {
            "a.js": """
            class Plugin { init() {} }
            const byName = new Map(), all = new Set(), list = [];
            byName.set('a', new Plugin()); all.add(new Plugin()); list.push(new Plugin());
            byName.get('a').init();
            for (const p of all) p.init();
            list[0].init();
            const table = {}; table.run = function () {}; table.run();
            const actions = { go: function () {} }; actions[name]();
            """
        },
        (
            "a -> a:Plugin.init :5",
            "a -> a:Plugin.init :6",
            "a -> a:Plugin.init :7",
            "a -> a:table.run",
            "a -> a:actions.go",
        ),
    ),
    Case(
        "components of JSX are called where they stand",
        {
            "b.jsx": """
            import React from 'react';
            export function Button({ onClick }) { return <button onClick={onClick}>x</button>; }
            export class Panel extends React.Component { render() { return this.body(); } body() {} }
            """,
            "a.jsx": """
            import * as ui from './b';
            import { Button } from './b';
            function save() {}
            const App = () => <div><Button onClick={() => save()} /><ui.Panel></ui.Panel></div>;
            """,
        },
        ("a:App -> b:Button", "a:App -> b:Panel", "b:Panel.render -> b:Panel.body"),
        never=("a:App -> b:Panel.body",),
    ),
    Case(
        "members under names that are not known, and members that are copied",
        {
            "a.js": """
            const mixin = require('merge-descriptors');
            const proto = { go() { this.stop(); }, stop() {} };
            const app = function () {};
            mixin(app, proto);
            app[name] = function dynamic() {};
            app.go(); app.other(); app.stop();
            """
        },
        ("a -> a:proto.go", "a -> a:proto.stop", "a:proto.go -> a:proto.stop"),
        exact=True,
    ),
    Case(
        "classes made by functions: mixins, expressions, names of their own",
        {
            "a.js": """
            class Base { base() {} }
            const Mixin = (B) => class extends B { mixed() {} };
            class Both extends Mixin(Base) { run() { this.base(); this.mixed(); } }
            const Named = class Inner { go() { return new Inner(); } };
            new Named().go(); new Both().mixed();
            """
        },
        (
            "a:Both.run -> a:Base.base",
            "a:Both.run -> a:Mixin.<lambda1>.mixed",
            "a -> a:Inner",
            "a -> a:Inner.go",
            "a:Inner.go -> a:Inner",
            "a -> a:Mixin",
            "a -> a:Both",
            "a -> a:Mixin.<lambda1>.mixed",
        ),
        exact=True,
    ),
    Case(
        "iterators of the repository's own",
        {
            "a.js": """
            class Range { [Symbol.iterator]() { return new Cursor(); } }
            class Cursor { next() { return { done: true }; } }
            function f(r) { for (const x of new Range()) {} }
            """
        },
        ("a:f -> a:Range.@@iterator", "a:f -> a:Cursor.next", "a:f -> a:Range"),
    ),
    Case(
        "properties that are defined by descriptors",
        {
            "a.js": """
            function C() {}
            Object.defineProperty(C.prototype, 'size', { get: function () { return this.count(); } });
            C.prototype.count = function () {};
            function f() { return new C().size; }
            """
        },
        ("a:f -> a:C.size [resolved]", "a:C.size -> a:C.count", "a:f -> a:C"),
        exact=True,
    ),
    Case(
        "calls in a class body and at the top are the module's; a line is where the name is",
        {
            "a.js": """
            function deco() {} function make() { return { then() { return this; }, end() {} }; }
            class C { x = make(); static y = make(); static { make(); } }
            make()
              .then()
              .end();
            """
        },
        (
            "a -> a:make :3",
            "a -> a:make.then :5",
            "a -> a:make.end :6",
        ),
    ),
    Case(
        "a name that nobody binds calls nothing",
        {
            "a.js": """
            function f(x) { unknown(); x.render(); x(); this.go(); }
            class C { render() {} go() {} }
            function unknownToo() {}
            """
        },
        (),
        exact=True,
    ),
    Case(
        "switches, loops, try and labels keep their calls",
        {
            "a.js": """
            function f() {}
            function g(x) {
              switch (x) { case f(): f(); break; default: f(); }
              try { f(); } catch { f(); } finally { f(); }
              out: for (let i = f(); f(); f()) { if (f()) f(); else f(); break out; }
              do { f(); } while (f());
              throw f();
            }
            """
        },
        tuple(f"a:g -> a:f :{line}" for line in (4, 5, 6, 7, 8)),
        exact=True,
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_calls(case: Case) -> None:
    check(case)
