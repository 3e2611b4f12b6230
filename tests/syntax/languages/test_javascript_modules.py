"""Which module an import of JavaScript means, and what it gives."""

import pytest
from cases import Case, check

LIB = "export function f() {}\nexport function g() {}\nexport default function main() {}\n"
CJS = "function f() {}\nfunction g() {}\nmodule.exports = { f, g: g };\n"

CASES = (
    Case(
        "named, renamed, default and namespace imports",
        {
            "lib.js": LIB,
            "a.js": """
            import main, { f, g as h } from './lib.js';
            import * as all from './lib';
            f(); h(); main(); all.g(); all.default();
            """,
        },
        ("a -> lib:f", "a -> lib:g", "a -> lib:main"),
        exact=True,
    ),
    Case(
        "exports are renamed, of classes, and declared before or after",
        {
            "lib.js": """
            function inner() {}
            class K { run() {} }
            const arrow = () => {};
            export { inner as outer, K, arrow as default };
            export const made = new K(), fn = function () {};
            """,
            "a.js": """
            import arrow, { outer, K, made, fn } from './lib';
            outer(); new K().run(); arrow(); made.run(); fn();
            """,
        },
        ("a -> lib:inner", "a -> lib:K", "a -> lib:K.run", "a -> lib:arrow", "a -> lib:fn"),
    ),
    Case(
        "names are exported again, all and under a name, through an index file",
        {
            "pkg/one.js": "export function one() {}\nexport default function d() {}\n",
            "pkg/two.js": "export function two() {}\n",
            "pkg/index.js": """
            export { one as first, default as d } from './one';
            export * from './two';
            export * as ns from './one';
            """,
            "a.js": "import { first, two, ns, d } from './pkg';\nfirst(); two(); ns.one(); d();\n",
        },
        ("a -> pkg/one:one", "a -> pkg/two:two", "a -> pkg/one:d"),
        exact=True,
    ),
    Case(
        "modules that import each other",
        {
            "a.js": "import { b } from './b';\nexport function a() { b(); }\n",
            "b.js": "import { a } from './a';\nexport function b() { a(); }\n",
        },
        ("a:a -> b:b", "b:b -> a:a"),
        exact=True,
    ),
    Case(
        "a dynamic import gives a promise of the module",
        {
            "lib.js": LIB,
            "a.js": """
            async function run() { const m = await import('./lib'); m.f(); }
            import('./lib').then(m => m.g());
            """,
        },
        ("a:run -> lib:f",),
    ),
    Case(
        "require: whole, taken apart, a member, and again exported",
        {
            "lib.js": CJS,
            "again.js": "module.exports = require('./lib');\nexports.own = function () {};\n",
            "a.js": """
            const lib = require('./lib');
            const { f, g: h } = require('./lib');
            const one = require('./lib').g;
            const again = require('./again');
            lib.f(); f(); h(); one(); again.g(); again.own();
            """,
        },
        ("a -> lib:f :6", "a -> lib:g :6", "a -> again:own"),
        exact=True,
    ),
    Case(
        "exports.x, module.exports = function, both at once",
        {
            "fn.js": "module.exports = function make() {};\nmodule.exports.extra = () => {};\n",
            "cls.js": "class K { run() {} }\nexports = module.exports = K;\nexports.help = () => {};\n",
            "self.js": "var self = module.exports = {};\nself.go = function () {};\n",
            "a.js": """
            const make = require('./fn'), K = require('./cls'), self = require('./self');
            make(); make.extra(); new K().run(); K.help(); self.go();
            """,
        },
        (
            "a -> fn:make",
            "a -> fn:extra",
            "a -> cls:K",
            "a -> cls:K.run",
            "a -> cls:help",
            "a -> self:self.go",
        ),
        exact=True,
    ),
    Case(
        "an ES import of a CommonJS module, and the other way",
        {
            "c.js": CJS,
            "e.js": LIB,
            "a.mjs": "import c, { f } from './c.js';\nf(); c.g();\n",
            "b.cjs": "const e = require('./e');\ne.f(); e.default();\n",
        },
        ("a -> c:f", "a -> c:g", "b -> e:f", "b -> e:main"),
        exact=True,
    ),
    Case(
        "what is unknown is external, whatever the repository calls alike",
        {
            "a.js": """
            import { map } from 'lodash';
            import fs from 'node:fs';
            const util = require('util');
            function inspect() {}
            function readFileSync() {}
            map([]); fs.readFileSync('x'); util.inspect(1); console.log(1); missing.inspect();
            """
        },
        (
            "a -> lodash.map [external]",
            "a -> fs.readFileSync [external]",
            "a -> util.inspect [external]",
            "a -> <builtin>.console.log [external]",
        ),
        never=("* -> a:inspect", "* -> a:readFileSync"),
    ),
    Case(
        "a dotted base name keeps its dots",
        {
            "foo.service.js": "export function go() {}\n",
            "foo.js": "export function go() {}\n",
            "a.js": "import { go } from './foo.service';\ngo();\n",
        },
        ("a -> foo.service:go",),
        exact=True,
    ),
    Case(
        "a folder means its package's main file, or its index",
        {
            "lib/package.json": '{"main": "./src/entry"}',
            "lib/src/entry.js": "exports.f = function () {};\n",
            "lib/index.js": "exports.f = function () {};\n",
            "other/index.js": "exports.g = function () {};\n",
            "a.js": "require('./lib').f(); require('./other/').g();\n",
        },
        ("a -> lib/src/entry:f", "a -> other/index:g"),
        exact=True,
    ),
    Case(
        "packages of the repository are known by their names",
        {
            "package.json": '{"name": "root", "workspaces": ["packages/*"]}',
            "packages/one/package.json": '{"name": "@me/one", "main": "dist/index.js"}',
            "packages/one/src/index.ts": "export function one() {}\n",
            "packages/one/src/deep.ts": "export function deep() {}\n",
            "packages/two/package.json": '{"name": "two", "exports": {".": {"import": '
            '"./esm/main.js"}, "./sub": "./lib/sub.js", "./x/*": "./lib/*.js"}}',
            "packages/two/esm/main.js": "export function two() {}\n",
            "packages/two/lib/sub.js": "export function sub() {}\n",
            "app/a.ts": """
            import { one } from '@me/one';
            import { deep } from '@me/one/deep';
            import { two } from 'two';
            import { sub } from 'two/sub';
            import * as again from 'two/x/sub';
            one(); deep(); two(); sub(); again.sub();
            """,
        },
        (
            "app/a -> packages/one/src/index:one",
            "app/a -> packages/one/src/deep:deep",
            "app/a -> packages/two/esm/main:two",
            "app/a -> packages/two/lib/sub:sub :7",
        ),
        exact=True,
    ),
    Case(
        "names that start with # are in the package's imports",
        {
            "package.json": '{"name": "p", "imports": {"#db": "./src/db.js", "#in/*": "./in/*"}}',
            "src/db.js": "export function db() {}\n",
            "in/x.js": "export function x() {}\n",
            "src/a.js": "import { db } from '#db';\nimport { x } from '#in/x.js';\ndb(); x();\n",
        },
        ("src/a -> src/db:db", "src/a -> in/x:x"),
        exact=True,
    ),
    Case(
        "tsconfig maps names, also through what it extends, with comments",
        {
            "tsconfig.base.json": """
            {
              // where things are
              "compilerOptions": {"baseUrl": ".", "paths": {"@lib/*": ["libs/*/src"],},},
            }
            """,
            "app/tsconfig.json": '{"extends": "../tsconfig.base.json"}',
            "libs/log/src/index.ts": "export function log(): void {}\n",
            "shared/util.ts": "export function util(): void {}\n",
            "app/a.ts": "import { log } from '@lib/log';\nimport { util } from 'shared/util';\n"
            "log(); util();\n",
        },
        ("app/a -> libs/log/src/index:log", "app/a -> shared/util:util"),
        exact=True,
    ),
    Case(
        "an import of .js is of the .ts that it is made from; declarations come last",
        {
            "util.ts": "export function util(): void {}\n",
            "old.js": "exports.old = function () {};\n",
            "old.d.ts": "export function old(): void;\n",
            "a.ts": "import { util } from './util.js';\nimport { old } from './old';\n"
            "util(); old();\n",
        },
        ("a -> util:util", "a -> old:old"),
        exact=True,
    ),
    Case(
        "TypeScript and JavaScript call each other",
        {
            "a.ts": "import { js } from './b';\nexport function ts(): void { js(); }\n",
            "b.js": "const { ts } = require('./a');\nexports.js = function js() { ts(); };\n",
        },
        ("a:ts -> b:js", "b:js -> a:ts"),
        exact=True,
    ),
    Case(
        "scripts see each other's globals; modules don't",
        {
            "js/one.js": "function shared() {}\nvar App = { start: function () {} };\n",
            "js/two.js": "shared(); App.start(); window.shared();\n",
            "js/three.js": "import './one';\nshared();\n",
        },
        ("js/two -> js/one:shared", "js/two -> js/one:App.start"),
        exact=True,
    ),
    Case(
        "what is put on window is global",
        {
            "a.js": "(function () {\n  function f() {}\n  window.api = { f: f };\n})();\n",
            "b.js": "api.f();\n",
        },
        ("b -> a:<lambda1>.f",),
    ),
    Case(
        "AMD modules and their dependencies",
        {
            "lib/one.js": "define(function () {\n  return { go: function () {} };\n});\n",
            "lib/two.js": "define(['./one'], function (one) {\n  one.go();\n  return one;\n});\n",
            "a.js": "require(['./lib/two'], function (two) { two.go(); });\n",
        },
        ("lib/two:<lambda1> -> lib/one:<lambda1>.go", "a:<lambda1> -> lib/one:<lambda1>.go"),
    ),
    Case(
        "a wrapper for every module system",
        {
            "lib.js": """
            (function (root, factory) {
              if (typeof define === 'function' && define.amd) { define([], factory); }
              else if (typeof module === 'object') { module.exports = factory(); }
              else { root.Lib = factory(); }
            })(this, function () {
              function Lib() {}
              Lib.prototype.go = function () { this.stop(); };
              Lib.prototype.stop = function () {};
              return Lib;
            });
            """,
            "a.js": "const Lib = require('./lib');\nnew Lib().go();\n",
        },
        ("a -> lib:<lambda2>.Lib.go [inferred]", "lib:<lambda2>.Lib.go -> lib:<lambda2>.Lib.stop"),
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_modules(case: Case) -> None:
    check(case)
