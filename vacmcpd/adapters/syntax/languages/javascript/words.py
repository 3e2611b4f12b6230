"""The names that JavaScript has everywhere: the language's, Node's and the browsers'."""


def words(text: str) -> frozenset[str]:
    """The words of ``text``."""
    return frozenset(text.split())


NAMES = words(
    """
    Array ArrayBuffer Atomics BigInt BigInt64Array BigUint64Array Boolean DataView Date
    Error EvalError FinalizationRegistry Float32Array Float64Array Function Infinity
    Int16Array Int32Array Int8Array Intl JSON Map Math NaN Number Object Promise Proxy
    RangeError ReferenceError Reflect RegExp Set SharedArrayBuffer String Symbol SyntaxError
    TypeError URIError Uint16Array Uint32Array Uint8Array Uint8ClampedArray WeakMap WeakRef
    WeakSet AggregateError Iterator decodeURI decodeURIComponent encodeURI
    encodeURIComponent escape eval globalThis isFinite isNaN parseFloat parseInt unescape
    Buffer __dirname __filename clearImmediate clearInterval clearTimeout console global
    process queueMicrotask require setImmediate setInterval setTimeout structuredClone
    AbortController AbortSignal Blob BroadcastChannel CustomEvent DOMException DOMParser
    Document Element Event EventSource EventTarget File FileReader FormData HTMLElement
    Headers Image IntersectionObserver KeyboardEvent MessageChannel MouseEvent
    MutationObserver Node NodeList Notification Performance PerformanceObserver
    ReadableStream Request ResizeObserver Response SVGElement Storage SubtleCrypto
    TextDecoder TextEncoder Touch TransformStream URL URLSearchParams WebAssembly WebSocket
    Window Worker WritableStream XMLHttpRequest alert atob btoa cancelAnimationFrame
    cancelIdleCallback confirm crypto customElements document fetch getComputedStyle history
    indexedDB localStorage location matchMedia navigator performance prompt
    requestAnimationFrame requestIdleCallback screen self sessionStorage window
    """
)
"""What no file has to bind."""
