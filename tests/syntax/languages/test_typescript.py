"""What types of TypeScript say about calls."""

import pytest
from cases import Case, check

CASES = (
    Case(
        "parameters, variables, fields, returns and casts have the types they declare",
        {
            "a.ts": """
            class Svc { run(): void {} next(): Svc { return this; } }
            declare const given: Svc;
            class User {
              private readonly svc: Svc;
              other!: Svc;
              constructor(private dep: Svc, svc: Svc) { this.svc = svc; }
              go(p: Svc, q?: Svc | null) {
                p.run(); q?.run(); this.svc.run();
                this.dep.run(); this.other.run(); given.run();
                (unknown as Svc).run(); (<Svc>unknown).run(); p.next().run();
                const local: Svc = unknown(); local.run();
                (unknown satisfies Svc); p!.run();
              }
            }
            """
        },
        (
            *(f"a:User.go -> a:Svc.run [resolved] :{line}" for line in (9, 10, 11, 12, 13)),
            "a:User.go -> a:Svc.next",
        ),
        exact=True,
    ),
    Case(
        "an interface's method dispatches to what implements it",
        {
            "shape.ts": "export interface Shape { area(): number; readonly name: string }\n",
            "a.ts": """
            import type { Shape } from './shape';
            class Square implements Shape { name = 'sq'; area() { return 1; } }
            class Circle extends Square { area() { return 2; } }
            class Plain { area() { return 3; } }
            function total(s: Shape) { return s.area(); }
            """,
        },
        (
            "a:total -> shape:Shape.area [dispatch]",
            "a:total -> a:Square.area [dispatch]",
            "a:total -> a:Circle.area [dispatch]",
        ),
        exact=True,
    ),
    Case(
        "abstract methods are run by what derives",
        {
            "a.ts": """
            abstract class Job { abstract step(): void; run() { this.step(); } protected done() {} }
            class Mail extends Job { step() { this.done(); } }
            function start(j: Job) { j.run(); }
            """
        },
        (
            "a:Job.run -> a:Job.step [dispatch]",
            "a:Job.run -> a:Mail.step [dispatch]",
            "a:Mail.step -> a:Job.done [resolved]",
            "a:start -> a:Job.run [resolved]",
        ),
        exact=True,
    ),
    Case(
        "an overloaded function is its implementation",
        {
            "a.ts": """
            function f(a: string): string;
            function f(a: number): number;
            function f(a: any): any { return g(); }
            function g() {}
            class C { m(a: string): void; m(a: number): void; m(a: any) { f(a); } }
            new C().m(1);
            """
        },
        ("a:f -> a:g :4", "a:C.m -> a:f", "a -> a:C.m :7", "a -> a:C"),
        exact=True,
    ),
    Case(
        "containers and promises hand on what they hold",
        {
            "a.ts": """
            class Item { use(): void {} }
            async function load(): Promise<Item[]> { return []; }
            async function f(a: Item[], b: Array<Item>, m: Map<string, Item>, s: Set<Item>,
                             r: Record<string, Item>, t: [string, Item], p: Promise<Item>) {
              a[0].use(); for (const x of b) x.use(); m.get('k')!.use();
              s.forEach(x => x.use()); r.key.use(); r['other'].use(); t[1].use();
              (await p).use(); (await load())[0].use(); a.find(x => true)!.use();
              Object.values(r).map(x => x.use()); [...a][0].use();
            }
            class Box { private items = new Map<string, Item>(); get(k: string) { return this.items.get(k)!; } }
            function g(b: Box) { b.get('k').use(); }
            """
        },
        (
            "a:f -> a:Item.use :6",
            "a:f -> a:Item.use :7",
            "a:f -> a:Item.use :8",
            "a:f -> a:Item.use :9",
            "a:f.<lambda1> -> a:Item.use [inferred]",
            "a:g -> a:Box.get",
            "a:g -> a:Item.use",
        ),
    ),
    Case(
        "generics are filled in",
        {
            "a.ts": """
            class User { save() {} }
            class Repo<T> { one(): T { return null as any; } all(): T[] { return []; } }
            function first<T>(list: T[]): T { return list[0]; }
            interface Named { name(): string }
            class N implements Named { name() { return ''; } }
            function show<T extends Named>(x: T) { x.name(); }
            function f(r: Repo<User>, us: User[]) {
              r.one().save(); r.all()[0].save(); first(us).save(); new Repo<User>().one().save();
            }
            """
        },
        (
            "a:f -> a:User.save [resolved] :9",
            "a:f -> a:Repo.one",
            "a:f -> a:first",
            "a:show -> a:Named.name [dispatch]",
            "a:show -> a:N.name [dispatch]",
        ),
    ),
    Case(
        "aliases, utility types, unions and object types",
        {
            "a.ts": """
            class A { m() {} } class B { m() {} }
            type Either = A | B;
            type Same = Readonly<A>;
            type Api = { call(): void; cb: () => A };
            function f(e: Either, s: Same, p: Partial<B>, api: Api, o: { inner: A }) {
              e.m(); s.m(); p.m!(); api.call(); api.cb().m(); o.inner.m();
            }
            """
        },
        ("a:f -> a:A.m [resolved]", "a:f -> a:B.m [resolved]", "a:f -> a:Api.call [dispatch]"),
        exact=True,
    ),
    Case(
        "namespaces, enums and declarations that are merged",
        {
            "a.ts": """
            namespace Outer.Inner { export function f() { hidden(); } function hidden() {} }
            namespace Outer.Inner { export class K { run() { f(); } } }
            class Merged { m() {} }
            namespace Merged { export function help() {} }
            enum E { A = Merged.help() as any }
            Outer.Inner.f(); new Outer.Inner.K().run(); Merged.help();
            """
        },
        (
            "a -> a:Outer.Inner.f",
            "a -> a:Outer.Inner.K.run",
            "a -> a:Merged.help",
            "a:Outer.Inner.f -> a:Outer.Inner.hidden",
        ),
    ),
    Case(
        "a fluent method keeps the type of what it is called on",
        {
            "a.ts": """
            class Query { where(): this { return this; } limit() { return this; } run() {} }
            class Select extends Query { from(): this { return this; } run() {} }
            class Other { from() {} run() {} }
            class Maker { other(): Other { return this as any; } }
            new Select().where().limit().from().run();
            new Maker().other().run();
            """
        },
        (
            "a -> a:Query.where",
            "a -> a:Query.limit",
            "a -> a:Select.from",
            "a -> a:Select.run",
            "a -> a:Other.run",
        ),
        never=("a -> a:Query.run", "a -> a:Other.from"),
    ),
    Case(
        "decorators are called where they stand",
        {
            "a.ts": """
            function Injectable(o?: any) { return (c: any) => c; }
            function log(t: any, k: string) {}
            @Injectable({})
            export class Svc { @log run() {} @Injectable() field = 1; }
            """
        },
        ("a -> a:Injectable :4", "a -> a:log :5", "a -> a:Injectable :5"),
    ),
    Case(
        "constructors are given their types by what is injected",
        {
            "foo.service.ts": "export class FooService { run() {} }\n",
            "bar.controller.ts": """
            import { FooService } from './foo.service';
            export class BarController {
              constructor(private readonly foo: FooService) {}
              handle() { return this.foo.run(); }
            }
            """,
            "main.ts": """
            import { BarController as Bar } from './bar.controller';
            import * as services from './foo.service';
            new Bar(new services.FooService()).handle();
            """,
        },
        (
            "bar.controller:BarController.handle -> foo.service:FooService.run",
            "main -> bar.controller:BarController.constructor",
            "main -> bar.controller:BarController.handle",
            "main -> foo.service:FooService",
        ),
        exact=True,
    ),
    Case(
        "an outside type hides nothing of the repository",
        {
            "a.ts": """
            import { Client, Base } from 'sdk';
            class Mine extends Base { own() { this.inherited(); this.own(); super.start(); } }
            class Other { send() {} inherited() {} start() {} }
            function f(c: Client, d: Date, e: HTMLElement) { c.send(); d.getTime(); e.click(); }
            function send() {} function getTime() {} function click() {}
            """
        },
        (
            "a:f -> sdk.Client.send [external]",
            "a:Mine.own -> sdk.Base.inherited [external]",
            "a:Mine.own -> sdk.Base.start [external]",
            "a:f -> <builtin>.Date.getTime [external]",
            "a:Mine.own -> a:Mine.own",
        ),
        exact=True,
    ),
    Case(
        "TSX: components, generics in arrows, props",
        {
            "a.tsx": """
            type Props = { onDone: () => void };
            const Row: React.FC<Props> = ({ onDone }) => { helper(); return <li>{label<string>('x')}</li>; };
            function label<T,>(x: T) { return x; }
            const helper = <T,>(x?: T): void => {};
            export default function List() { return <><Row onDone={() => helper()} /></>; }
            """
        },
        ("a:List -> a:Row", "a:Row -> a:helper", "a:Row -> a:label"),
    ),
    Case(
        "ambient functions and declared modules",
        {
            "env.d.ts": "declare function ambient(): void;\ninterface Global { go(): void }\n",
            "a.ts": "export {};\nfunction f(g: Global) { ambient(); g.go(); }\n",
        },
        ("a:f -> env.d:ambient [dispatch]", "a:f -> env.d:Global.go [dispatch]"),
        exact=True,
    ),
    Case(
        "accessors, statics, index signatures, `this` parameters and export =",
        {
            "lib.ts": "class Lib { static of(): Lib { return new Lib(); } run() {} }\nexport = Lib;\n",
            "a.ts": """
            import Lib = require('./lib');
            class C {
              static #one: C; static get one(): C { return C.#one; }
              table: { [key: string]: C } = {};
              m(this: C, k: string) { this.table[k].m(k); C.one.m(k); }
            }
            Lib.of().run();
            """,
        },
        (
            "a:C.m -> a:C.m",
            "a:C.m -> a:C.one [resolved]",
            "a -> lib:Lib.of",
            "a -> lib:Lib.run",
            "lib:Lib.of -> lib:Lib",
        ),
        exact=True,
    ),
    Case(
        "a handler of a type that is declared as a function",
        {
            "a.ts": """
            class Out { use() {} }
            type Make = (n: number) => Out;
            function f(make: Make, other: () => Out) { make(1).use(); other().use(); }
            """
        },
        ("a:f -> a:Out.use [resolved]",),
        exact=True,
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_types(case: Case) -> None:
    check(case)
