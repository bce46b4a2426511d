/** A map, weak or not. */
type Store<K, V> = { get(key: K): V | undefined; set(key: K, value: V): unknown };

/** Returns the value of a key; if the map has none, creates and adds a value. */
export function getOrAdd<K, V>(map: Store<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
