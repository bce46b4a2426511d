/** A map, weak or not. */
type Store<K, V> = { get(key: K): V | undefined; set(key: K, value: V): unknown };

/** The value of a key; if the map has none, one is made and added. */
export function getOrAdd<K, V>(map: Store<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
