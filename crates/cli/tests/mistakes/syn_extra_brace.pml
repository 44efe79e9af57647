init { skip }
}
